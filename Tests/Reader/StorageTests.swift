import Loop
import Reader
import TestSupport
import Testing
import Wire

extension ReaderTests {
    @Suite("a reader's own storage")
    struct StorageTests {
        @ReaderActor
        private func count(of template: Template, in stored: [StoredPrint]) -> Int {
            stored.count { $0.isSame(as: template) }
        }

        @Test("prints are listed and deleted")
        func listAndDelete() async throws {
            try await Bench.withReaders { readers in
                // The virtual reader's storage lasts only while it is open.
                let hold = try await readers.hold(Bench.storageID)
                #expect(try await readers.list(on: Bench.storageID).isEmpty)
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let two = try await Bench.enrol(.rightThumb, as: "two", with: readers)
                let listed = try await readers.list(on: Bench.storageID)
                #expect(listed.count == 2)
                for template in [one, two] { #expect(await count(of: template, in: listed) == 1) }
                try await readers.delete(one, on: Bench.storageID)
                let left = try await readers.list(on: Bench.storageID)
                #expect(left.count == 1)
                #expect(await count(of: two, in: left) == 1)
                await #expect(throws: ReaderFault.notFound) {
                    try await readers.delete(one, on: Bench.storageID)
                }
                for stored in left { try await readers.delete(stored, on: Bench.storageID) }
                #expect(try await readers.list(on: Bench.storageID).isEmpty)
                withExtendedLifetime(hold) {}
            }
        }

        @Test("a reader without storage lists and deletes nothing")
        func without() async throws {
            try await Bench.withReaders { readers in
                let template = try await Bench.enrol(
                    as: "one", with: readers, on: Bench.plainID, at: Bench.plain)
                await #expect(throws: ReaderFault.notSupported) {
                    _ = try await readers.list(on: Bench.plainID)
                }
                await #expect(throws: ReaderFault.notSupported) {
                    try await readers.delete(template, on: Bench.plainID)
                }
            }
        }

        @Test("a finger that the reader's storage lost does not match")
        func lost() async throws {
            try await Bench.withReaders { readers in
                let hold = try await readers.hold(Bench.storageID)
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                try await Bench.storage.act(.remove("one"))
                let log = EventLog()
                let match = Task {
                    try await readers.match(among: [one], observer: log.observer)
                }
                await log.wait(for: .fingerNeeded)
                try await Bench.storage.act(.scan("one"))
                let result = await match.result
                if case .success(.matched) = result { Issue.record("a deleted print matched") }
                withExtendedLifetime(hold) {}
            }
        }
    }
}
