// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A backup of a server")
struct ServerBackupTests {
    @Test("that was made while it ran lets its devices log in", arguments: Backend.allCases)
    func restored(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let server = try ServerProcess(home)
        let device = try TestDevice()
        try await server.register(device)
        #expect(try await server.logIn(device).status == 200)
        let copy = try home.copied()
        let later = try TestDevice(id: 0xd2)
        later.account = "bob"
        try await server.register(later)
        try server.stop()

        let other = try ServerHome(copy)
        try other.scratch.write("master-secret", try home.scratch.read("master-secret"))
        #expect(try other.administer("after-restore").ending == .exited(0))
        let restored = try ServerProcess(other, apiKey: server.apiKey)
        #expect(try await restored.logIn(device).status == 200)
        #expect(try await restored.logIn(later).code == "refused")
        try restored.stop()
        // Without the master secret it does not start, and makes no keys of its own.
        let stranger = try ServerHome(copy)
        #expect(throws: (any Error).self) { try ServerProcess(stranger, apiKey: "") }
    }
}
