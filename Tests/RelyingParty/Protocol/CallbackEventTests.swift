// SPDX-License-Identifier: Apache-2.0
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("What an application is notified of")
struct CallbackEventTests {
    /// A server whose application has a callback, and a device of alice.
    private func site(
        _ backend: Backend, policy: ApplicationPolicy = ApplicationPolicy()
    ) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(backend, policy: policy)
        try await server.setCallback("https://shop.example/callback")
        return (server, try TestDevice())
    }

    @Test("is each step of a registration, with its reason", arguments: Backend.allCases)
    func registrations(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        let id = device.registration
        for step in ["block", "unblock", "remove"] {
            #expect(
                try await server.ask("POST", "/v1/registrations/\(id)/\(step)", [:]).status == 200)
        }
        func event(_ type: String, _ reason: String? = nil) -> SeenEvent {
            SeenEvent(type: "registration.\(type)", registration: id, reason: reason)
        }
        #expect(
            try await server.waitingEvents() == [
                event("active"), event("blocked", "application"), event("unblocked"),
                event("removed", "application"),
            ])
        // What is refused is no event.
        #expect(try await server.ask("POST", "/v1/registrations/\(id)/block", [:]).status == 409)
        #expect(try await server.waitingEvents().count == 4)
    }

    @Test(
        "is a key that awaits its comparison, and a device that another replaces",
        arguments: Backend.allCases)
    func replaced(backend: Backend) async throws {
        let (server, first) = try await site(
            backend, policy: ApplicationPolicy(severalDevices: false, commitRequired: true))
        let second = try TestDevice(id: 0xd2)
        for device in [first, second] {
            try await server.register(device)
            let state = try await server.ask("GET", "/v1/registrations/\(device.registration)", nil)
            let answer = try await server.ask(
                "POST", "/v1/registrations/\(device.registration)/commit",
                ["fingerprint": try state.text("fingerprint")])
            #expect(answer.status == 200)
        }
        #expect(
            try await server.waitingEvents() == [
                SeenEvent(type: "registration.pending", registration: first.registration),
                SeenEvent(type: "registration.active", registration: first.registration),
                SeenEvent(type: "registration.pending", registration: second.registration),
                SeenEvent(
                    type: "registration.removed", registration: first.registration,
                    reason: "replaced"),
                SeenEvent(type: "registration.active", registration: second.registration),
            ])
    }

    @Test("is a device that its counter blocks", arguments: Backend.allCases)
    func blockedByFailures(backend: Backend) async throws {
        let (server, device) = try await site(
            backend, policy: ApplicationPolicy(maximumFailures: 1))
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(1)
        device.counter = 0
        let refused = try await server.logIn(device)
        #expect(refused.status == 401 && refused["remainingAttempts"] as? Int == 0)
        #expect(
            try await server.waitingEvents().last
                == SeenEvent(
                    type: "registration.blocked", registration: device.registration,
                    reason: "failures"))
    }

    @Test("is the end of each operation, once", arguments: Backend.allCases)
    func operations(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        try await server.makeTemplate(maximumFailures: 1)
        try await server.forgetEvents()
        let ids = try await [
            server.operation(), server.operation(), server.operation(), server.operation(),
            server.operation(),
        ]
        #expect(try await server.waitingEvents() == [])
        #expect(try await server.decide(ids[0], by: device).status == 200)
        #expect(try await server.decide(ids[1], .reject, by: device).status == 200)
        #expect(try await server.ask("POST", "/v1/operations/\(ids[2])/cancel", [:]).status == 200)
        let shown = try await server.detail(ids[3], for: device)
        let wrong = device.decision(of: shown, at: server.time.now)
        let signed = try device.signed(wrong.encoded(), .login)
        #expect(try await server.decide(ids[3], signed).status == 401)
        server.time.pass(301)
        await server.service.maintenance.forgetOld()
        await server.service.maintenance.forgetOld()
        func event(_ type: String, _ place: Int, by registration: String? = nil) -> SeenEvent {
            SeenEvent(
                type: "operation.\(type)", registration: registration, operation: ids[place],
                purpose: "operation")
        }
        let expected = [
            event("approved", 0, by: device.registration),
            event("rejected", 1, by: device.registration), event("cancelled", 2),
            event("failed", 3), event("expired", 4),
        ]
        #expect(try await server.waitingEvents() == expected)
        // A decision that comes too late, or again, is none.
        #expect(try await server.ask("POST", "/v1/operations/\(ids[2])/cancel", [:]).status == 409)
        #expect(try await server.waitingEvents() == expected)
    }

    @Test(
        "is an account that is blocked or unblocked, not one that was", arguments: Backend.allCases)
    func accounts(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        try await server.forgetEvents()
        for verb in ["block", "block", "unblock", "unblock"] {
            try await server.administer("account", verb, "shop", "alice")
        }
        #expect(
            try await server.waitingEvents() == [
                SeenEvent(type: "account.blocked"), SeenEvent(type: "account.unblocked"),
            ])
    }

    @Test(
        "is nothing of another application, and nothing without a callback",
        arguments: Backend.allCases)
    func others(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        _ = try await server.makeApplication("bank")
        try await server.setCallback("https://bank.example/callback", of: "bank")
        let device = try TestDevice()
        try await server.register(device)
        try await server.makeTemplate()
        #expect(try await server.decide(server.operation(), by: device).status == 200)
        try await server.administer("account", "block", "shop", "alice")
        #expect(try await server.waitingEvents() == [])
    }

    @Test("is nothing that was rolled back", arguments: Backend.allCases)
    func rolledBack(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        try await server.makeTemplate()
        let operation = try await server.operation()
        try await server.forgetEvents()
        // The line of the audit trail is the last that a decision writes.
        try await server.change("ALTER TABLE audit RENAME TO elsewhere")
        #expect(try await server.decide(operation, by: device).status == 503)
        #expect(try await server.waitingEvents() == [])
        try await server.change("ALTER TABLE elsewhere RENAME TO audit")
        #expect(try await server.status(operation) == "PENDING")
        #expect(try await server.decide(operation, by: device).status == 200)
        #expect(try await server.waitingEvents().map(\.type) == ["operation.approved"])
    }

    @Test("goes with the application, its callback included", arguments: Backend.allCases)
    func removedApplication(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        try await server.makeEvents(1_500)
        try await server.administer("application", "remove", "shop", "--devices", "remove")
        #expect(try await server.waitingEvents() == [])
        #expect(try await server.rows("SELECT url FROM callback").isEmpty)
        #expect(try await server.rows("SELECT id FROM application").isEmpty)
    }

    @Test("is the end of the operations that a restore ends", arguments: Backend.allCases)
    func restored(backend: Backend) async throws {
        let (server, device) = try await site(backend)
        try await server.register(device)
        try await server.makeTemplate()
        let operation = try await server.operation()
        try await server.forgetEvents()
        try await server.administer("after-restore")
        #expect(
            try await server.waitingEvents() == [
                SeenEvent(type: "operation.expired", operation: operation, purpose: "operation")
            ])
    }

    @Test("has an id of its own, whatever else is alike", arguments: Backend.allCases)
    func ids(backend: Backend) async throws {
        let (server, _) = try await site(backend)
        try await server.makeEvents(100)
        let ids = try await server.rows("SELECT id FROM callback_event").map { try $0.bytes(0) }
        #expect(Set(ids).count == 100 && ids.allSatisfy { $0.count == 16 })
    }
}
