// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPClient
import Posix
import SQL
import TestSupport

/// The real `signet-server` on SQLite, with TLS under an authority of its own, and the application
/// `shop`, as whose back end tests ask.
package final class LiveServer: Sendable {
    /// As devices know it.
    package let url: String
    /// The PEM file of its authority.
    package let authority: String
    /// What it serves, and its log.
    package let program: TestSupport.Program
    private let scratch: Scratch
    /// The API key of `shop`.
    package let apiKey: String
    private let client: HTTPClient

    /// Starts it and waits until it is ready. `commitRequired` has people compare fingerprints,
    /// `severalDevices` is whether an account may have more than one. `tpmAuthorities` is the path of
    /// the file that names the makers of TPMs. `path` is that of its public URL, and `called` the one
    /// below which devices call it, where a proxy would change it.
    package static func start(
        commitRequired: Bool = false, severalDevices: Bool = false, tpmAuthorities: String = "none",
        path: String = "", called: String? = nil
    ) async throws -> LiveServer {
        let scratch = try Scratch()
        try scratch.makeCertificate("server")
        let port = try freePort()
        let url = "https://127.0.0.1:\(port)\(path)"
        try scratch.write(
            "server.conf",
            """
            [server]
            url = \(url)
            [listen]
            port = \(port)
            path = \(called == nil ? "kept" : "removed")
            certificate = \(scratch.at("server.pem"))
            key = \(scratch.at("server.key"))
            [database]
            path = \(scratch.at("server.db"))
            [keys]
            master = \(scratch.at("master"))
            [attestation]
            authorities = \(tpmAuthorities)

            """)
        let program = try await run(scratch)
        let key = try await makeApplication(
            in: scratch.at("server.db"), url, commitRequired, severalDevices)
        return LiveServer(
            "https://127.0.0.1:\(port)\(called ?? path)", scratch, program, key)
    }

    private init(_ url: String, _ scratch: Scratch, _ program: TestSupport.Program, _ key: String) {
        self.url = url
        self.scratch = scratch
        self.program = program
        authority = scratch.at("server.pem")
        apiKey = key
        var configuration = ClientConfiguration()
        configuration.authorities = .file(authority)
        client = HTTPClient(configuration)
    }

    deinit {
        program.signal(15)
        _ = try? program.expectEnd()
    }

    /// An activation code for an account of `shop`.
    package func code(for account: String = "alice") throws -> String {
        let answer = try ask("POST", "/v1/activations", ["account": account])
        guard let code = answer["code"] as? String else {
            throw TestFault.closed(awaited: "a code", transcript: "\(answer)")
        }
        return code
    }

    /// Sends a call with the API key of `shop`, and gives the members of the answer.
    @discardableResult
    package func ask(
        _ method: String, _ path: String, _ body: [String: Any]? = nil
    ) throws -> [String: Any] {
        try call(method, path, body, authorization: "Bearer \(apiKey)").members
    }

    /// Sends a call with this header `Authorization`; gives status and members of the answer.
    package func call(
        _ method: String, _ path: String, _ body: [String: Any]?, authorization: String?
    ) throws -> (status: Int, members: [String: Any]) {
        var request = ClientRequest(
            method: method, url: url + path, headers: [("Content-Type", "application/json")])
        if let authorization { request.headers.append(("Authorization", authorization)) }
        if let body { request.body = [UInt8](try JSONSerialization.data(withJSONObject: body)) }
        let answer = try client.perform(request)
        let object = try? JSONSerialization.jsonObject(with: Data(answer.body))
        return (answer.status, object as? [String: Any] ?? [:])
    }

    /// Runs `signet-server admin` on its database, and gives what that prints.
    @discardableResult
    package func administer(_ words: String...) throws -> String { try administer(words) }

    /// The same, with the words in an array.
    @discardableResult
    package func administer(_ words: [String]) throws -> String {
        let program = Layout.products + "/signet-server"
        let arguments = ["admin", "--config", scratch.at("server.conf")] + words
        let done = try Program(Command([program] + arguments)).expectEnd()
        guard done.succeeded else {
            throw TestFault.closed(awaited: "an answer", transcript: done.errors)
        }
        return done.output
    }

    /// Has access tokens of `shop` be valid for fewer seconds than an administrator may set.
    package func shortenTokens(to seconds: Int64) async throws {
        let database = try SQLiteDatabase(path: scratch.at("server.db"))
        try await database.write { store throws(DatabaseFault) in
            _ = try store.run("UPDATE application SET access_seconds = $1", [.integer(seconds)])
        }
        await database.close()
    }

    /// The registrations of an account, as the server tells them.
    package func registrations(of account: String = "alice") throws -> [[String: Any]] {
        let answer = try ask("GET", "/v1/accounts/\(account)/registrations")
        return answer["registrations"] as? [[String: Any]] ?? []
    }

    /// Makes the template `payment`: what is to be paid to whom, in two lines.
    package func makeTemplate(seconds: Int = 300) throws {
        try administer(
            "template", "add", "shop", "payment", "pay {amount} EUR\nto {payee}", "--seconds",
            "\(seconds)", "--max-failures", "3")
    }

    /// Asks for a payment's approval; the operation's id.
    package func pay(
        _ amount: String, to payee: String = "Bob", expiresIn: Int? = nil, device: String? = nil,
        account: String = "alice"
    ) throws -> String {
        var wish: [String: Any] = [
            "account": account, "template": "payment",
            "data": ["amount": amount, "payee": payee],
        ]
        if let expiresIn { wish["expiresIn"] = expiresIn }
        if let device { wish["device"] = device }
        let made = try ask("POST", "/v1/operations", wish)
        guard let id = made["operation"] as? String else {
            throw TestFault.closed(awaited: "an operation", transcript: "\(made)")
        }
        return id
    }

    /// How an operation stands.
    package func status(of operation: String) throws -> String {
        try ask("GET", "/v1/operations/\(operation)")["status"] as? String ?? ""
    }

    private static func run(_ scratch: Scratch) async throws -> TestSupport.Program {
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let program = try TestSupport.Program(
            Command(
                [Layout.products + "/signet-server", "--config", scratch.at("server.conf")],
                environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
        guard notices.hearReady(within: .patience) else {
            throw TestFault.deadline(awaited: "signet-server", transcript: program.errors)
        }
        return program
    }

    /// As `signet-server admin` would: there is no call for it.
    private static func makeApplication(
        in path: String, _ url: String, _ commitRequired: Bool, _ severalDevices: Bool
    ) async throws -> String {
        let key = try BearerSecret.apiKey.generate()
        let database = try SQLiteDatabase(path: path)
        try await database.write { store throws(DatabaseFault) in
            let rows = try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ('shop', $1, $2, $3, 1, 'any', 'any', 5, 300, 86400, 0) RETURNING id
                """,
                [
                    .text("\(url)/shop"), .text(severalDevices ? "several" : "one"),
                    .integer(commitRequired ? 1 : 0),
                ])
            guard let row = rows.first else { return }
            try store.run(
                """
                INSERT INTO api_key (hash, application, name, created, scopes)
                VALUES ($1, $2, 'test', 0, 'verify registrations operations logins')
                """,
                [.bytes(key.digest), .integer(try row.integer(0))])
        }
        await database.close()
        return String(decoding: key.text, as: UTF8.self)
    }
}
