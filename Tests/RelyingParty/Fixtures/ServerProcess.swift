// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPClient
import Posix
import SQLSupport
import Synchronization
import TestSupport

@testable import RelyingParty

/// What processes of the server share: a directory, and with it the master secret, and a database.
final class ServerHome: Sendable {
    let scratch: Scratch
    let place: TestDatabase.Place
    /// How the server is called from outside.
    let url: String
    private let database: TestDatabase?
    private let made = Mutex(0)

    /// On an empty database of this kind.
    convenience init(_ backend: Backend, url: String = "https://id.example.org") throws {
        let database = try backend.make()
        try self.init(database.place, keeping: database, url: url)
    }

    /// On this database.
    init(
        _ place: TestDatabase.Place, keeping database: TestDatabase? = nil,
        url: String = "https://id.example.org"
    ) throws {
        self.url = url
        scratch = try Scratch()
        self.place = place
        self.database = database
    }

    /// A configuration with these settings more, for any free port; gives its path.
    func configuration(_ more: String = "", port: UInt16 = 0) throws -> String {
        let number = made.withLock { made in
            made += 1
            return made
        }
        let databaseLines =
            switch place {
            case .sqlite(let path): "kind = sqlite\npath = \(path)"
            case .postgreSQL(let connection): "kind = postgresql\nconnection = \(connection)"
            }
        try scratch.write(
            "server\(number).conf",
            """
            [server]
            url = \(url)
            [database]
            \(databaseLines)
            [keys]
            master = \(scratch.at("master-secret"))
            [listen]
            port = \(port)
            rate = 1000000
            \(more)

            """)
        return scratch.at("server\(number).conf")
    }

    /// Runs a command of administration to its end.
    func administer(_ words: String...) throws -> Outcome {
        try Program(
            Command(
                [ServerProcess.program, "admin", "--config", try configuration()] + words)
        ).expectEnd()
    }
}

/// A process of the server, as it is installed, on a port of this machine.
final class ServerProcess: CalledServer, Sendable {
    static let program = "\(Layout.products)/signet-server"

    let time = RealTime()
    let home: ServerHome
    let process: Program
    let port: UInt16
    /// An API key of `shop`.
    let apiKey: String
    private let client: HTTPClient
    private let scheme: String

    /// Starts one; with `apiKey`, the application is there already.
    init(
        _ home: ServerHome, apiKey: String? = nil, settings: String = "",
        environment: [String: String] = [:], prefix: [String] = [],
        client: ClientConfiguration? = nil
    ) throws {
        self.home = home
        let configuration = try home.configuration(settings)
        process = try Program(
            Command(
                prefix + [Self.program, "--config", configuration],
                environment: environment.merging(ServerLibrary.environment) { own, _ in own }))
        try process.expectError(" on port ")
        if let library = ServerLibrary.directory, prefix.isEmpty {
            let maps = try Layout.read("/proc/\(process.pid)/maps")
            guard String(decoding: maps, as: UTF8.self).contains(library) else {
                throw Unexpected("the server has not loaded libmicrohttpd from \(library)")
            }
        }
        guard
            let said = process.errors.firstMatch(of: #/serving (plain HTTP|HTTPS) on port (\d+)/#),
            let port = UInt16(said.output.2)
        else { throw Unexpected("no port: \(process.errors)") }
        self.port = port
        scheme = said.output.1 == "HTTPS" ? "https" : "http"
        var settings = client ?? ClientConfiguration()
        settings.allowsPlain = true
        self.client = HTTPClient(settings)
        self.apiKey = try apiKey ?? Self.makeApplication(home)
    }

    /// The application `shop`; gives an API key of it.
    private static func makeApplication(_ home: ServerHome) throws -> String {
        for words in [["application", "add", "shop"], ["key", "add", "shop", "test"]] {
            let program = try Program(
                Command([program, "admin", "--config", try home.configuration()] + words))
            let outcome = try program.expectEnd()
            guard outcome.succeeded else { throw Unexpected(outcome.errors) }
            if words[0] == "key" { return String(outcome.output.dropLast()) }
        }
        return ""
    }

    func send(
        _ method: String, _ path: String, _ body: [String: Any]?, key: String?,
        headers: [(name: String, value: String)], from peer: String
    ) async throws -> Reply {
        try await send(method, path, body, key: key, headers: headers, from: peer, at: port)
    }

    /// Sends a call to a port of this machine, which may be that of a proxy.
    func send(
        _ method: String, _ path: String, _ body: [String: Any]?, key: String?,
        headers: [(name: String, value: String)], from _: String, at port: UInt16
    ) async throws -> Reply {
        var headers = headers
        if let key { headers.append(("Authorization", "Bearer \(key)")) }
        var bytes: [UInt8]?
        if let body {
            bytes = [UInt8](try JSONSerialization.data(withJSONObject: body))
            headers.append(("Content-Type", "application/json"))
        }
        let answer = try await client.send(
            ClientRequest(
                method: method, url: "\(scheme)://127.0.0.1:\(port)\(path)", headers: headers,
                body: bytes))
        return Reply(answer.status, answer.headers, answer.body)
    }

    func ask(_ method: String, _ path: String, _ body: [String: Any]?) async throws -> Reply {
        try await send(method, path, body, key: apiKey, headers: [], from: "")
    }

    /// Its figures, in the text format; for a server with `Self.metrics` among its settings.
    func figures() async throws -> String {
        guard let said = process.errors.firstMatch(of: #/metrics on port (\d+)/#)?.output.1 else {
            throw Unexpected("no metrics: \(process.errors)")
        }
        let page = try await client.send(
            ClientRequest(url: "http://127.0.0.1:\(said)/metrics"))
        guard page.status == 200 else { throw Unexpected("metrics: \(page.status)") }
        return String(decoding: page.body, as: UTF8.self)
    }

    /// The settings of a server that serves its figures.
    static let metrics = "[metrics]\nlisten = 127.0.0.1:0"

    /// Sends SIGTERM, and waits for the end.
    @discardableResult
    func stop() throws -> Outcome {
        process.signal(SIGTERM)
        return try process.expectEnd()
    }

    /// Ends it in the middle of whatever it does, and waits until it is gone.
    func kill() throws {
        process.signal(SIGKILL)
        try process.expectEnd()
    }
}
