import Loop
import Reader
import TestSupport
import Testing
import Wire

extension ReaderTests {
    @Suite("a match with the list of what the reader keeps")
    struct ListedMatchTests {
        /// Starts to match and returns when the readers want a finger.
        private func start(
            _ readers: Readers, _ templates: [Template], limit: Duration = Readers.limit,
            readersWaiting: Int = 1
        ) async -> Task<ListedMatch, any Error> {
            let log = EventLog()
            let task = Task {
                try await readers.matchAndList(
                    among: templates, limit: limit, observer: log.observer)
            }
            for _ in 0..<readersWaiting { await log.wait(for: .fingerNeeded) }
            return task
        }

        @Test("tells what the reader keeps, its own print and others'")
        func contents() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let two = try await Bench.enrol(.rightIndex, as: "two", with: readers)
                let match = await start(readers, [two])
                try await Bench.storage.act(.scan("two"))
                try await Bench.storage.act(.proceed)
                let found = try await match.value
                #expect(found.result == .matched(index: 0, updated: nil))
                let contents = try #require(found.contents)
                #expect(contents.prints.count == 2)
                for template in [one, two] {
                    #expect(contents.prints.count { $0.isSame(as: template) } == 1)
                }
                #expect(contents.reader.driver == "virtual_device_storage")
                #expect(contents.reader.serial == nil)
            }
        }

        @Test("shows a finger that came, or went, while a touch was awaited")
        func meanwhile() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let two = try await Bench.enrol(.rightIndex, as: "two", with: readers)
                let match = await start(readers, [one, two])
                try await Bench.storage.act(.insert("stranger"))
                try await Bench.storage.act(.remove("two"))
                try await Bench.storage.act(.scan("one"))
                // Also one that comes when the finger has matched already.
                try await Bench.storage.act(.insert("late"))
                let contents = try #require(try await match.value.contents)
                #expect(contents.prints.count { $0.isSame(as: one) } == 1)
                #expect(contents.prints.count { $0.isSame(as: two) } == 0)
                #expect(contents.prints.count == 3)
            }
        }

        @Test("a finger that does not match has nothing listed")
        func noMatch() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let match = await start(readers, [one])
                try await Bench.storage.act(.scan("two"))
                let found = try await match.value
                #expect(found.result == .noMatch)
                #expect(found.contents == nil)
            }
        }

        @Test("a reader that keeps nothing matches without a list")
        func without() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(
                    as: "one", with: readers, on: Bench.plainID, at: Bench.plain)
                let match = await start(readers, [one])
                try await Bench.plain.act(.scan("one"))
                let found = try await match.value
                #expect(found.result == .matched(index: 0, updated: nil))
                #expect(found.contents == nil)
            }
        }

        @Test(
            "a match whose list fails is a fault",
            arguments: [(5, ReaderFault.protocolError), (256, .removed), (257, .tooHot)])
        func failing(code: Int, fault: ReaderFault) async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let match = await start(readers, [one])
                try await Bench.storage.act(.scan("one"))
                try await Bench.storage.act(.error(code))
                await #expect(throws: fault) { _ = try await match.value }
            }
        }

        @Test("the time limit holds for the list too, and the reader works again")
        func limit() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let match = await start(readers, [one], limit: .milliseconds(300))
                // Without a command the virtual reader takes half a second for its list.
                try await Bench.storage.act(.scan("one"))
                await #expect(throws: ReaderFault.timedOut) { _ = try await match.value }
                let again = await start(readers, [one])
                try await Bench.storage.act(.scan("one"))
                try await Bench.storage.act(.proceed)
                #expect(try await again.value.contents?.prints.count == 1)
            }
        }

        @Test("cancelled between match and list, there is no match")
        func cancelled() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(.leftIndex, as: "one", with: readers)
                let match = await start(readers, [one])
                try await Bench.storage.act(.scan("one"))
                match.cancel()
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
            }
        }

        @Test("with two readers it is the list of the one that matched")
        func twoReaders() async throws {
            try await Bench.withReaders { readers in
                let one = try await Bench.enrol(as: "one", with: readers)
                let two = try await Bench.enrol(
                    as: "two", with: readers, on: Bench.plainID, at: Bench.plain)
                let onPlain = await start(readers, [one, two], readersWaiting: 2)
                try await Bench.plain.act(.scan("two"))
                #expect(try await onPlain.value.contents == nil)
                let onStorage = await start(readers, [one, two], readersWaiting: 2)
                try await Bench.storage.act(.scan("one"))
                try await Bench.storage.act(.proceed)
                let found = try await onStorage.value
                #expect(found.result == .matched(index: 0, updated: nil))
                #expect(found.contents?.prints.count == 1)
            }
        }
    }
}
