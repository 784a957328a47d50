// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import HTTPClient
import HTTPServer
import Posix
import SQL
import Synchronization
import TestSupport

@testable import RelyingParty

/// An event as it was noted or received: what tests compare.
struct SeenEvent: Equatable, CustomStringConvertible {
    var type: String
    var account = "alice"
    var registration: String?
    var operation: String?
    var purpose: String?
    var reason: String?

    var description: String {
        "\(type) \(account) \(registration ?? "-") \(operation ?? "-") \(purpose ?? "-") \(reason ?? "-")"
    }
}

/// A back end that receives callbacks, and answers them as a test says.
final class CallbackReceiver: Sendable {
    /// What it answers to a callback, by the number of those before it and its body.
    typealias Behaviour = @Sendable (Int, [UInt8]) async -> HTTPResponse

    private let arrivals = Arrived()
    private let server: HTTPServer
    let url: String

    /// Listens at a free port of 127.0.0.1.
    init(
        _ behaviour: @escaping Behaviour = { _, _ in HTTPResponse(status: 204) },
        identity: ServerConfiguration.Identity? = nil
    ) throws {
        let arrivals = arrivals
        server = try HTTPServer(
            ServerConfiguration(place: .address("127.0.0.1", port: 0), identity: identity)
        ) { request in
            guard request.method == "POST", request.header("content-type") == "application/jwt"
            else { return HTTPResponse(status: 400) }
            return await behaviour(arrivals.add(request.body), request.body)
        }
        url = "\(identity == nil ? "http" : "https")://127.0.0.1:\(server.port)/callback?key=1"
    }

    /// The bodies that have arrived.
    var received: [[UInt8]] { arrivals.bodies.withLock { $0 } }

    func stop() async { await server.stop(within: .zero) }
}

/// The bodies that have arrived, in their order.
private final class Arrived: Sendable {
    let bodies = Mutex<[[UInt8]]>([])

    /// Adds one; gives how many there were before.
    func add(_ body: [UInt8]) -> Int {
        bodies.withLock { bodies in
            bodies.append(body)
            return bodies.count - 1
        }
    }
}

/// A value that several tasks read and change.
final class SharedValue<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    /// Changes it in one step; gives the value before.
    func change(_ body: (Value) -> Value) -> Value {
        state.withLock { state in
            defer { state = body(state) }
            return state
        }
    }
}

/// Holds up whoever passes, until it is opened.
actor Turnstile {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        guard !isOpen else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}

extension TestServer {
    /// Sets the callback of an application, as an administrator does.
    func setCallback(_ url: String, of application: String = "shop") async throws {
        let now = time.now
        try await database.write { store throws(DatabaseFault) in
            guard let record = try store.applications.application(name: application) else {
                throw .broken("no such application")
            }
            try store.callbacks.set(url, of: record.id, at: now)
        }
    }

    /// The events that wait, in the order in which they were noted.
    func waitingEvents() async throws -> [SeenEvent] {
        try await rows(
            """
            SELECT type, account, registration, operation, purpose, reason FROM callback_event
            ORDER BY number
            """
        ).map { row in
            SeenEvent(
                type: try row.text(0), account: try row.text(1),
                registration: try row.optionalBytes(2).map { hex($0) },
                operation: try row.optionalBytes(3).map { hex($0) },
                purpose: try row.text(4).isEmpty ? nil : row.text(4),
                reason: try row.text(5).isEmpty ? nil : row.text(5))
        }
    }

    /// Forgets the events that wait.
    func forgetEvents() async throws { try await change("DELETE FROM callback_event") }

    /// Writes events about alice without what they are about.
    func makeEvents(_ count: Int, application: String = "shop") async throws {
        let now = time.now
        try await database.write { store throws(DatabaseFault) in
            guard let record = try store.applications.application(name: application) else {
                throw .broken("no such application")
            }
            let account = try store.accounts.makeAccount("alice", of: record.id, at: now)
            for number in 0..<count {
                try store.callbackEvents.note(
                    account: account.id, isBlocked: number % 2 == 0, at: now)
            }
        }
    }

    /// Sends with a carrier that may reach this machine.
    func sender(
        limit: Duration = .seconds(10),
        authorities: ClientConfiguration.Authorities = .system
    ) throws -> CallbackSender {
        var carrier = CallbackCarrier(
            networks: CallbackNetworks(listed: [try AddressBlock("127.0.0.0/8")]),
            authorities: authorities)
        carrier.limit = limit
        let made = carrier
        return CallbackSender(service.callbacks) { await made.deliver($0) }
    }

    /// Tries everything that is due once.
    func send(limit: Duration = .seconds(10)) async throws {
        try await sender(limit: limit).runOnce()
    }

    /// What a callback says, if its signature is the server's.
    func claims(_ body: [UInt8]) throws -> [String: Any] {
        let parts = body.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let signature = base64Bytes(parts[2]),
            let header = base64Bytes(parts[0]), let payload = base64Bytes(parts[1]),
            let key = service.keys.verifying.first
        else { throw Unexpected("not a token") }
        let said = try JSONSerialization.jsonObject(with: Data(header)) as? [String: String]
        guard
            said == [
                "alg": "ES256", "typ": "signet-callback+jwt",
                "kid": String(decoding: key.id, as: UTF8.self),
            ],
            let numbers = P256Signature(
                r: [UInt8](signature.prefix(32)), s: [UInt8](signature.dropFirst(32))),
            try key.publicKey.verifies(
                numbers, message: [UInt8](parts[0] + [UInt8(ascii: ".")] + parts[1]))
        else { throw Unexpected("not by the server's key") }
        return try JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any] ?? [:]
    }

    /// How an application's callback goes.
    func callback(of application: String = "shop") async throws -> CallbackRecord? {
        try await database.read { store throws(DatabaseFault) -> CallbackRecord? in
            guard let record = try store.applications.application(name: application) else {
                return nil
            }
            return try store.callbacks.callback(of: record.id)
        }
    }
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
}

private func base64Bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var standard = String(decoding: text, as: UTF8.self)
        .replacing("-", with: "+").replacing("_", with: "/")
    standard += String(repeating: "=", count: (4 - standard.count % 4) % 4)
    return Data(base64Encoded: standard).map { [UInt8]($0) }
}
