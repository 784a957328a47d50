// SPDX-License-Identifier: Apache-2.0
import Domain
import Foundation
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The name that a device gives itself")
struct DeviceNameTests {
    /// Begins a registration with this member `deviceName`.
    private func begin(
        _ server: TestServer, _ device: TestDevice, name: Any
    ) async throws -> Reply {
        let code = try await server.ask("POST", "/v1/activations", ["account": device.account])
        let begun = try await server.send(
            "POST", "/v1/registrations",
            [
                "code": try code.text("code"), "device": hexadecimal(device.id),
                "deviceName": name,
            ])
        device.registration = (begun["registration"] as? String) ?? ""
        return begun
    }

    private func register(_ server: TestServer, _ device: TestDevice, name: Any) async throws {
        let proven = try await server.prove(device, try await begin(server, device, name: name))
        guard proven.status == 200 else { throw Unexpected("not registered") }
    }

    @Test("is shown with its registration, from its beginning on", arguments: Backend.allCases)
    func registrations(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        let begun = try await begin(server, device, name: "Alice laptop (2)")
        #expect(begun.status == 201)
        let path = "/v1/registrations/\(device.registration)"
        #expect(try await server.ask("GET", path)["deviceName"] as? String == "Alice laptop (2)")
        let proven = try await server.prove(device, begun)
        #expect(proven["deviceName"] as? String == "Alice laptop (2)")
        let list = try await server.ask("GET", "/v1/accounts/alice/registrations")
        let all = try #require(list["registrations"] as? [[String: Any]])
        #expect(all.map { $0["deviceName"] as? String } == ["Alice laptop (2)"])
        let shown = try await server.administer("registration", "show", device.registration)
        #expect(shown.contains("device name   Alice laptop (2)"))
        let listed = try await server.administer("registration", "list", "shop")
        #expect(listed.first?.contains("DEVICE-NAME") == true)
        #expect(listed.contains { $0.contains("Alice laptop (2)") })
    }

    @Test("is absent where a device has given none", arguments: Backend.allCases)
    func absent(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let path = "/v1/registrations/\(device.registration)"
        let shown = try await server.ask("GET", path)
        #expect(shown.status == 200 && shown["deviceName"] == nil)
        let text = try await server.administer("registration", "show", device.registration)
        #expect(text.contains("device name   -"))
        let audit = try await server.ask("GET", "/v1/accounts/alice/audit")
        let entries = try #require(audit["entries"] as? [[String: Any]])
        #expect(entries.count == 3 && entries.allSatisfy { $0["deviceName"] == nil })
    }

    @Test("may be another device's, too, and each keeps its own", arguments: Backend.allCases)
    func several(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (one, two, three) = (try TestDevice(), try TestDevice(id: 2), try TestDevice(id: 3))
        try await register(server, one, name: "desk")
        try await register(server, two, name: "desk")
        try await register(server, three, name: "laptop")
        let list = try await server.ask("GET", "/v1/accounts/alice/registrations")
        let all = try #require(list["registrations"] as? [[String: Any]])
        let names = all.compactMap { $0["deviceName"] as? String }
        #expect(names.sorted() == ["desk", "desk", "laptop"])
        #expect(try await server.logIn(one).status == 200)
        #expect(try await server.logIn(two).status == 200)
    }

    @Test(
        "is refused if it is empty, too long, has control characters or is no text, and uses up no code",
        arguments: [
            "", " ", "a\n", "a\u{0}", "a\u{1B}[2J", "é", "<b>", " a", "a ",
            String(repeating: "n", count: 65),
        ])
    func refused(name: String) async throws {
        let server = try await TestServer.make(.sqlite)
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
        for value in [name, 1, [name], ["a": name]] as [Any] {
            let reply = try await server.send(
                "POST", "/v1/registrations",
                [
                    "code": try code.text("code"), "device": String(repeating: "1", count: 32),
                    "deviceName": value,
                ])
            #expect(reply.status == 400 && reply.code == "malformed")
            let title = try reply.text("title")
            #expect(title.contains("'deviceName'"), "\(title)")
            if value is String { #expect(title.contains("1 to 64 letters"), "\(title)") }
        }
        #expect(try await server.rows("SELECT id FROM registration").isEmpty)
        let device = try TestDevice()
        let begun = try await server.send(
            "POST", "/v1/registrations",
            [
                "code": try code.text("code"), "device": hexadecimal(device.id),
                "deviceName": "laptop",
            ])
        #expect(begun.status == 201)
    }

    @Test("is shown with what the device has decided, and not before", arguments: Backend.allCases)
    func operations(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let (device, other) = (try TestDevice(), try TestDevice(id: 2))
        try await register(server, device, name: "laptop")
        try await server.register(other)
        try await server.makeTemplate()
        let id = try await server.operation()
        let pending = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(pending["deviceName"] == nil && pending["registration"] == nil)
        #expect(try await server.decide(id, by: device).status == 200)
        let shown = try await server.ask("GET", "/v1/operations/\(id)")
        #expect(shown["registration"] as? String == device.registration)
        #expect(shown["deviceName"] as? String == "laptop")
        let second = try await server.operation()
        #expect(try await server.decide(second, .reject, by: other).status == 200)
        let list = try await server.ask("GET", "/v1/accounts/alice/operations")
        let all = try #require(list["operations"] as? [[String: Any]])
        #expect(all.map { $0["deviceName"] as? String } == [nil, "laptop"])
    }

    @Test("is in the audit trail: sealed at the registration, and shown with each line")
    func audit() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try TestDevice()
        try await register(server, device, name: "laptop")
        #expect(try await server.logIn(device).status == 200)
        let begun = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'registration' AND outcome = 'begun'")
        #expect(try begun.map { try $0.text(0) } == ["name: laptop"])
        let reply = try await server.ask("GET", "/v1/accounts/alice/audit")
        let entries = try #require(reply["entries"] as? [[String: Any]])
        #expect(
            entries.map { $0["deviceName"] as? String } == ["laptop", "laptop", "laptop", nil])
        let lines = try await server.administer("audit", "--event", "login")
        #expect(lines.last?.contains("laptop") == true)
        // The name that is looked up is no part of the chain.
        let verified = try await server.administer("audit", "verify")
        #expect(verified.first?.contains("as it was sealed") == true)
    }

    @Test("is none for registrations from before names", arguments: Backend.allCases)
    func migrated(backend: Backend) async throws {
        let place = try backend.make()
        let database = try place.open()
        try await database.migrate(Array(Schema.steps.prefix(7)))
        try await database.write { store throws(DatabaseFault) in
            try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ('shop', 'a', 'one', 0, 1, 'any', 'any', 5, 300, 86400, 0)
                """)
            try store.run(
                """
                INSERT INTO account (application, name, blocked, flags, roles, created)
                VALUES (1, 'alice', 0, '', '', 0)
                """)
            try store.run(
                """
                INSERT INTO registration (id, account, device, status, reason, counter, enrolment,
                    failures, key_kind, secure_boot, flags, created, changed)
                VALUES ($1, 1, $1, 'ACTIVE', '', 0, 0, 0, '', '', '', 0, 0)
                """, [.bytes([UInt8](repeating: 1, count: 16))])
        }
        try await database.migrate(Schema.steps)
        let found = try await database.read { store throws(DatabaseFault) in
            try store.registrations.registration(.sample(repeating: 1))
        }
        #expect(found?.status == .active && found?.name == nil)
        await database.close()
    }
}
