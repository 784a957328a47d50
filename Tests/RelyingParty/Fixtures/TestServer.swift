// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import HTTPServer
import Posix
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import TestSupport

@testable import RelyingParty

/// A server without its sockets: calls go to the dispatcher, on a database of its own.
final class TestServer: Sendable {
    let service: Service
    let database: any Database
    let time: TestTime
    /// An API key of the application `shop`.
    let apiKey: String
    let limits: CallLimits
    /// The calls so far and their answers; nil unless they are recorded.
    let recorded = Mutex<[Exchange]?>(nil)
    private let dispatcher: Dispatcher
    private let place: TestDatabase
    private let master: SecretBytes

    /// With the application `shop` and an API key of it.
    static func make(
        _ backend: Backend, policy: ApplicationPolicy = ApplicationPolicy(), rate: Int = 100_000,
        rates: NetworkRates? = nil, routes: [Route] = Routes.all,
        authorities: CertificateAuthorities? = nil
    ) async throws -> TestServer {
        let place = try await backend.make(Schema.steps)
        let database = try place.open()
        try await database.migrate(Schema.steps)
        let key = try await makeApplication("shop", policy, in: database)
        let master = try SecretBytes.random(32)
        let keys = try await ServerSigningKeys(database, master: master, at: TestTime.start)
        return TestServer(
            place, database, keys, master, apiKey: key, rate: rate, rates: rates, routes: routes,
            authorities: authorities)
    }

    /// Another server on the same database, whose keys are those of this moment.
    func neighbour() async throws -> TestServer {
        let keys = try await ServerSigningKeys(database, master: master, at: time.now)
        return TestServer(
            place, database, keys, master, apiKey: apiKey, rate: 100_000, routes: Routes.all,
            time: time)
    }

    private init(
        _ place: TestDatabase, _ database: any Database, _ keys: ServerSigningKeys,
        _ master: SecretBytes, apiKey: String, rate: Int,
        rates: NetworkRates? = nil, routes: [Route], time: TestTime = TestTime(),
        authorities: CertificateAuthorities? = nil
    ) {
        self.place = place
        self.master = master
        self.database = database
        self.apiKey = apiKey
        self.time = time
        service = Service(
            database: database, keys: keys, clock: time.clock, issuer: "https://id.example.org",
            authorities: authorities, refusals: rate)
        limits = CallLimits(rates ?? NetworkRates(standard: rate), clock: time.clock)
        dispatcher = Dispatcher(
            service: service, routes: routes, limits: limits, trustsProxy: false)
    }

    /// Makes another application, and gives an API key of it.
    func makeApplication(
        _ name: String, _ policy: ApplicationPolicy = ApplicationPolicy()
    ) async throws -> String {
        try await Self.makeApplication(name, policy, in: database)
    }

    private static func makeApplication(
        _ name: String, _ policy: ApplicationPolicy, in database: any Database
    ) async throws -> String {
        let key = try BearerSecret.apiKey.generate()
        guard let name = Name(name) else { throw Unexpected("no name") }
        try await database.write { store throws(DatabaseFault) in
            let made = try store.applications.makeApplication(
                name, audience: "https://id.example.org/\(name.text)", policy: policy,
                at: TestTime.start)
            guard let made else { throw .broken("the application is there") }
            _ = try store.applications.keepAPIKey(
                key.digest, name: name, of: made.id, at: TestTime.start)
        }
        return String(decoding: key.text, as: UTF8.self)
    }

    /// Sends a call as it would arrive; `key` is the API key it comes with.
    func send(
        _ method: String, _ path: String, _ body: [String: Any]? = nil, key: String? = nil,
        headers: [(name: String, value: String)] = [], from peer: String = "192.0.2.1"
    ) async throws -> Reply {
        var headers = headers
        var bytes: [UInt8] = []
        if let body {
            bytes = [UInt8](try JSONSerialization.data(withJSONObject: body))
            headers.append(("content-type", "application/json"))
        }
        if let key { headers.append(("authorization", "Bearer \(key)")) }
        return await answer(
            HTTPRequest(method: method, path: path, headers: headers, body: bytes, peer: peer))
    }

    /// Changes what no call changes.
    func change(_ sql: StaticString) async throws {
        try await database.write { store throws(DatabaseFault) in _ = try store.run(sql) }
    }

    /// Answers a request as it stands.
    func answer(_ request: HTTPRequest) async -> Reply {
        let reply = Reply(await dispatcher.answer(request))
        recorded.withLock { $0?.append(Exchange(request: request, reply: reply)) }
        return reply
    }

    /// What the HTTP server answers by itself.
    func refuse(_ status: Int, _ request: HTTPRequest) -> Reply {
        Reply(dispatcher.refuse(status, request: request))
    }

    /// Sends a call with the API key of `shop`.
    func ask(
        _ method: String, _ path: String, _ body: [String: Any]? = nil
    ) async throws -> Reply {
        try await send(method, path, body, key: apiKey)
    }

    /// The rows of a query, for what no call shows.
    func rows(_ sql: StaticString, _ values: [Value] = []) async throws -> [Row] {
        try await database.read { store throws(DatabaseFault) in try store.run(sql, values) }
    }
}

/// A call and its answer.
struct Exchange: Sendable {
    let method: String
    let path: String
    let body: [UInt8]
    let status: Int
    let headers: [(name: String, value: String)]
    let answer: [UInt8]

    init(request: HTTPRequest, reply: Reply) {
        (method, path, body) = (request.method, request.path, request.body)
        (status, headers, answer) = (reply.status, reply.headers, reply.bytes)
    }
}

/// A wall clock that tests set.
final class TestTime: Sendable {
    static let start: Int64 = 1_800_000_000
    private let seconds = Atomic<Int64>(start)
    /// What has passed of the present second.
    private let microseconds = Atomic<Int64>(0)

    var now: Int64 { seconds.load(ordering: .sequentiallyConsistent) }

    /// Lets time pass.
    func pass(_ count: Int64) {
        seconds.add(count, ordering: .sequentiallyConsistent)
    }

    /// Lets time pass within the present second.
    func pass(microseconds count: Int64) {
        microseconds.add(count, ordering: .sequentiallyConsistent)
    }

    var clock: Clock {
        Clock(
            boot: { "test" }, sinceBoot: { .seconds(self.now - Self.start) },
            wallSeconds: { self.now },
            wallMicroseconds: {
                self.now * 1_000_000 + self.microseconds.load(ordering: .sequentiallyConsistent)
            })
    }
}

/// What the server answered.
struct Reply {
    let status: Int
    let headers: [(name: String, value: String)]
    let bytes: [UInt8]
    /// The body's members; empty where it is no JSON object.
    let members: [String: Any]

    init(_ response: HTTPResponse) {
        self.init(response.status, response.headers, response.body)
    }

    init(_ status: Int, _ headers: [(name: String, value: String)], _ bytes: [UInt8]) {
        self.status = status
        self.headers = headers
        self.bytes = bytes
        let object = try? JSONSerialization.jsonObject(with: Data(bytes))
        members = object as? [String: Any] ?? [:]
    }

    /// The value of the one header of this name.
    func header(_ name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The code of a problem document.
    var code: String? { members["code"] as? String }

    subscript(name: String) -> Any? { members[name] }

    /// A text member.
    func text(_ name: String) throws -> String {
        guard let text = members[name] as? String else {
            throw Unexpected("no text '\(name)' in \(String(decoding: bytes, as: UTF8.self))")
        }
        return text
    }

    /// Bytes from base64url.
    /// An id or a challenge in base64url.
    func binary<ID: FixedBytes>(_ name: String) throws -> ID {
        guard let id = ID(try binary(name)) else { throw Unexpected("'\(name)' is no \(ID.self)") }
        return id
    }

    func binary(_ name: String) throws -> [UInt8] {
        guard let bytes = Base64.decode([UInt8](try text(name).utf8), alphabet: .url) else {
            throw Unexpected("'\(name)' is not base64url")
        }
        return bytes
    }
}

/// What a test's own preparation ran into.
struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
