// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SQL
import SQLSupport
import Testing

@testable import RelyingParty

@Suite("The server's own keys")
struct ServerKeysTests {
    @Test("are one of each use, however many servers start at once", arguments: Backend.allCases)
    func firstStarts(backend: Backend) async throws {
        let place = try backend.make()
        let database = try place.open()
        try await database.migrate(Schema.steps)
        let master = try SecretBytes.random(32)
        let points = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<12 {
                group.addTask {
                    let keys = try await ServerSigningKeys(
                        database, master: master, at: TestTime.start)
                    return keys.verdictPoint
                }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(points.count == 1)
        let rows = try await database.read { store throws(DatabaseFault) in
            try store.run("SELECT use FROM signing_key ORDER BY use")
        }
        #expect(try rows.map { row in try row.text(0) } == ["token", "verdict"])
        await database.close()
    }

    @Test("have ids that a command does not take for options")
    func ids() throws {
        let seal = try RowSeal(master: SecretBytes.random(32), context: "signing-key")
        // One in 64 would begin with a dash: that none of 600 does is no chance.
        for _ in 0..<600 { #expect(try !NewKey(seal).id.hasPrefix("-")) }
    }
}
