// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import CommandProtocol
import FingerprintReader
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport
import Testing

extension ReaderTests {
    @Suite("a reader's own storage")
    struct StorageTests {
        init() { hurry_virtual_readers(0) }

        /// Lists without the virtual reader's pause. The reader must be held open.
        private func list(_ readers: Readers) async throws -> [ReaderPrint] {
            try await ReaderFixture.storage.act(.proceed)
            return try await readers.list(on: ReaderFixture.storageID).prints
        }

        /// Runs with the storage reader open and these prints in it, which another system enrolled.
        private func withStored(
            _ ids: [String], _ body: (Readers) async throws -> Void
        ) async throws {
            try await ReaderFixture.withReaders { readers in
                let hold = try await readers.hold(ReaderFixture.storageID)
                for id in ids { try await ReaderFixture.storage.act(.insert(id)) }
                try await body(readers)
                withExtendedLifetime(hold) {}
            }
        }

        /// Deletes without the pause.
        private func delete(_ template: Template, _ readers: Readers) async throws {
            try await ReaderFixture.storage.act(.proceed)
            try await readers.delete(template, on: ReaderFixture.storageID)
        }

        @Test("prints are listed and deleted")
        func listAndDelete() async throws {
            try await withStored([]) { readers in
                #expect(try await list(readers).isEmpty)
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let two = try await ReaderFixture.enrol(.rightThumb, as: "two", with: readers)
                let listed = try await list(readers)
                #expect(listed.count == 2)
                for template in [one, two] {
                    #expect(template.isStoredOnReader)
                    #expect(listed.count { $0.isSame(as: template) } == 1)
                }
                try await delete(one, readers)
                let left = try await list(readers)
                #expect(left.count == 1)
                #expect(left.count { $0.isSame(as: two) } == 1)
                await #expect(throws: ReaderFault.notFound) {
                    try await delete(one, readers)
                }
                try await ReaderFixture.storage.act(.proceed)
                for stored in left {
                    try await readers.delete(record: stored.bytes, on: ReaderFixture.storageID)
                }
                #expect(try await list(readers).isEmpty)
            }
        }

        @Test("a print has the same bytes in each list, whatever is added or removed beside it")
        func stable() async throws {
            let mine = ["FP1-20260101-7-ABCDEF01-alice", "one", "FP1-00000000-0-00000000-nobody"]
            try await withStored(mine) { readers in
                let first = try await list(readers)
                #expect(first.count == 3)
                #expect(Set(first.map(\.bytes)).count == 3)
                #expect(Set(first.map(\.identity)).count == 3)
                #expect(first.compactMap(\.account) == ["alice"])
                let others = (0..<40).map { "other \($0)" }
                for id in others { try await ReaderFixture.storage.act(.insert(id)) }
                let more = try await list(readers)
                #expect(more.count == 43)
                #expect(more.map(\.bytes) == more.map(\.bytes).sorted(by: isBefore))
                #expect(Set(first.map(\.bytes)).isSubset(of: more.map(\.bytes)))
                for id in others { try await ReaderFixture.storage.act(.remove(id)) }
                let last = try await list(readers)
                #expect(last.map(\.bytes) == first.map(\.bytes))
                #expect(last.map(\.identity) == first.map(\.identity))
            }
        }

        private func isBefore(_ one: [UInt8], _ other: [UInt8]) -> Bool {
            one.lexicographicallyPrecedes(other)
        }

        @Test("a print that was changed in anything is another print")
        func changed() async throws {
            let before = "FP1-20260101-7-ABCDEF01-alice"
            let changes = [
                "FP1-20260102-7-ABCDEF01-alice", "FP1-20260101-8-ABCDEF01-alice",
                "FP1-20260101-7-ABCDEF02-alice", "FP1-20260101-7-ABCDEF01-alicf",
                "FP1-20260101-7-ABCDEF01-alic", "FP1-20260101-7-ABCDEF01-alice ",
            ]
            try await withStored([before] + changes) { readers in
                let listed = try await list(readers)
                #expect(Set(listed.map(\.bytes)).count == 1 + changes.count)
                #expect(Set(listed.map(\.identity)).count == 1 + changes.count)
            }
        }

        @Test("no template is taken for a print that only begins or ends like its own")
        func similar() async throws {
            try await withStored(["onee", "on", "One", ""]) { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                try await ReaderFixture.storage.act(.remove("one"))
                let listed = try await list(readers)
                #expect(listed.count == 4)
                #expect(!listed.contains { $0.isSame(as: one) })
            }
        }

        @Test(
            "a print whose text is not UTF-8, or whose date is invalid, is listed and ends nothing")
        func hostile() async throws {
            try await withStored(["FP1-20269999-7-ABCDEF01-alice"]) { readers in
                let name = Array("FP1-20260101-7-ABCDEF01-".utf8)
                try await ReaderFixture.storage.act(.insertBytes(name + [0xff, 0xfe]))
                try await ReaderFixture.storage.act(.insertBytes(name + [0xff, 0xfd]))
                let listed = try await list(readers)
                #expect(listed.count == 3)
                #expect(Set(listed.map(\.bytes)).count == 3)
            }
        }

        @Test("a list that fails is a fault, not an empty list")
        func failing() async throws {
            try await withStored(["one"]) { readers in
                for (code, fault) in [(5, ReaderFault.protocolError), (4, .busy), (257, .tooHot)] {
                    try await ReaderFixture.storage.act(.error(code))
                    await #expect(throws: fault) {
                        _ = try await readers.list(on: ReaderFixture.storageID)
                    }
                }
                await #expect(throws: ReaderFault.timedOut) {
                    _ = try await readers.list(
                        on: ReaderFixture.storageID, limit: .milliseconds(50))
                }
                #expect(try await list(readers).count == 1)
                try await ReaderFixture.storage.act(.unplug)
                await #expect(throws: ReaderFault.noReader) {
                    _ = try await readers.list(on: ReaderFixture.storageID)
                }
            }
        }

        @Test("a reader without storage lists and deletes nothing")
        func without() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(
                    as: "one", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                await #expect(throws: ReaderFault.notSupported) {
                    _ = try await readers.list(on: ReaderFixture.plainID)
                }
                await #expect(throws: ReaderFault.notSupported) {
                    try await readers.delete(template, on: ReaderFixture.plainID)
                }
            }
        }

        @Test("a finger that the reader's storage lost does not match")
        func lost() async throws {
            try await withStored([]) { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                try await ReaderFixture.storage.act(.remove("one"))
                let log = EventLog()
                let match = Task {
                    try await readers.match(among: [one], observer: log.observer)
                }
                await log.wait(for: .fingerNeeded)
                try await ReaderFixture.storage.act(.scan("one"))
                let result = await match.result
                if case .success(.matched) = result { Issue.record("a deleted print matched") }
            }
        }
    }
}
