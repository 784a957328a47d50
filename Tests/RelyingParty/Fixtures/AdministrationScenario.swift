// SPDX-License-Identifier: Apache-2.0
import Crypto
import HTTPServer
import SQLSupport
import Synchronization
import TestSupport

@testable import RelyingParty

/// A story in which each call for administration succeeds once, in the order of
/// docs/developer/openapi.yaml and with the bodies of its examples.
struct AdministrationScenario {
    private let server: TestServer
    /// A key of the whole server.
    private let key: String
    private let phone: TestDevice

    /// Runs it; returns all calls for administration with their answers.
    static func run() async throws -> [Exchange] {
        let server = try await TestServer.attesting(.sqlite)
        let key = try await server.administer("key", "add", "shop", "ops", "--scopes", "server")[0]
        server.recorded.withLock { $0 = [] }
        let scenario = AdministrationScenario(server: server, key: key, phone: try TestDevice())
        try await scenario.changeApplications()
        try await scenario.notify()
        try await scenario.changeKeys()
        try await scenario.changeAccounts()
        try await scenario.changeRegistration()
        try await scenario.changeTemplates()
        try await scenario.changeSigningKeys()
        let filters: [String: Any] = [
            "since": "7d", "application": "shop", "account": "alice", "event": "block",
            "apiKey": "ops", "limit": 50,
        ]
        try await scenario.call("audit", filters)
        try await scenario.call("audit application", filters)
        try await scenario.call(
            "audit sealed", ["after": 0, "since": "7d", "application": "shop", "limit": 1_000])
        try await scenario.call("audit verify")
        let made = server.recorded.withLock { $0 ?? [] }
        return made.filter { $0.path.hasPrefix("/v1/admin/") }
    }

    private func changeApplications() async throws {
        try await call("application add", ["name": "bank", "devices": "one", "keys": "tpm"])
        try await call("application list")
        try await call("application set", ["name": "shop", "maxFailures": 3])
        try await call("application remove", ["name": "bank", "devices": "remove"])
        try await call("application pam-file", ["name": "shop"])
    }

    /// With a receiver that takes one event, and then no more.
    private func notify() async throws {
        let receiver = try CallbackReceiver { before, _ in
            HTTPResponse(status: before == 0 ? 204 : 500)
        }
        let url = "https://shop.example/signet"
        try await call("callback set", ["application": "shop", "url": url])
        try await server.setCallback(receiver.url)
        for _ in 0..<2 {
            try await server.makeEvents(1)
            try await server.send()
        }
        try await call("callback show", ["application": "shop"])
        try await call("callback remove", ["application": "shop"])
        await receiver.stop()
    }

    private func changeKeys() async throws {
        let web: [String: Any] = ["application": "shop", "name": "web"]
        try await call("key add", web, ["scopes": ["logins", "verify"], "expires": "90d"])
        try await server.administer("key", "add", "shop", "old")
        try await server.administer("key", "revoke", "shop", "old")
        // When the calls so far were made is written down once a minute.
        await server.service.maintenance.writeDown()
        try await call("key list", ["application": "shop"])
        try await call("key set", web, ["expires": "30d"])
        try await call("key revoke", web)
    }

    /// With a registration that waits for a person to confirm it.
    private func changeAccounts() async throws {
        try await server.change("UPDATE application SET commit_required = 1")
        try await server.register(phone)
        let alice: [String: Any] = ["application": "shop", "account": "alice"]
        let words = ["flags": ["vip"], "roles": ["buyer"]]
        try await server.administer(
            "account", "set", "shop", "alice", "--flags", "vip", "--roles", "buyer")
        try await call("account list", ["application": "shop", "after": "al", "limit": 100])
        try await call("account set", alice, words)
        try await call("account block", alice)
        try await call("account unblock", alice)
        try await call("activation add", alice, ["minutes": 30])
    }

    private func changeRegistration() async throws {
        let phone: [String: Any] = ["id": phone.registration]
        let filters: [String: Any] = [
            "application": "shop", "account": "alice", "status": "PENDING_COMMIT", "limit": 100,
        ]
        try await call("registration list", filters)
        let shown = try await call("registration show", phone)
        let fingerprint = ["fingerprint": try shown.text("fingerprint")]
        let laptop = try AttestingDevice()
        _ = try await server.register(attested: laptop)
        try await call("registration attestation", ["id": laptop.device.registration])
        try await call("registration commit", phone, fingerprint)
        try await call("registration set", phone, ["flags": ["office"]])
        try await call("registration block", phone)
        try await call("registration unblock", phone)
        try await call("registration remove", phone)
    }

    private func changeTemplates() async throws {
        let payment: [String: Any] = ["application": "shop", "name": "payment"]
        let text = ["text": "pay {amount} to {payee}"]
        try await call("template add", payment, text)
        try await call("template list", ["application": "shop"])
        try await call("template remove", payment)
    }

    private func changeSigningKeys() async throws {
        guard let first = server.service.keys.verifying.first?.id else {
            throw Unexpected("no signing key")
        }
        try await server.administer("signing-key", "rotate", "verdict")
        try await call("signing-key list")
        try await call("signing-key rotate", ["use": "token"])
        try await call("signing-key retire", ["id": String(decoding: first, as: UTF8.self)])
    }

    /// Calls a command as its path says it.
    @discardableResult
    private func call(
        _ command: String, _ members: [String: Any] = [:], _ more: [String: Any] = [:]
    ) async throws -> Reply {
        let path = command.split(separator: " ").joined(separator: "/")
        let body = members.merging(more) { first, _ in first }
        let reply = try await server.send("POST", "/v1/admin/\(path)", body, key: key)
        guard reply.status == 200 else {
            throw Unexpected(
                "\(command): \(reply.status): \(String(decoding: reply.bytes, as: UTF8.self))")
        }
        return reply
    }
}
