// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport
import Testing

extension ReaderTests {
    @Suite("matching")
    struct MatchTests {
        /// Starts to match and returns when the readers want a finger.
        private func start(
            _ readers: Readers, _ templates: [Template], on ids: [String]? = nil,
            limit: Duration = Readers.limit, log: EventLog = EventLog(), readersWaiting: Int = 1
        ) async -> Task<MatchResult, any Error> {
            let task = Task {
                try await readers.match(
                    among: templates, on: ids, limit: limit, observer: log.observer)
            }
            for _ in 0..<readersWaiting { await log.wait(for: .fingerNeeded) }
            return task
        }

        @Test("identification finds the print among several, and no other")
        func identify() async throws {
            try await ReaderFixture.withReaders { readers in
                let first = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let second = try await ReaderFixture.enrol(.rightIndex, as: "two", with: readers)
                let hit = await start(readers, [first, second])
                try await ReaderFixture.storage.act(.scan("two"))
                #expect(try await hit.value == .matched(index: 1))
                let miss = await start(readers, [first, second])
                try await ReaderFixture.storage.act(.scan("three"))
                #expect(try await miss.value == .noMatch)
                let another = await start(readers, [first])
                try await ReaderFixture.storage.act(.scan("two"))
                #expect(try await another.value == .noMatch)
            }
        }

        @Test("a reader that only verifies takes a scan for each print")
        func verify() async throws {
            try await ReaderFixture.withReaders { readers in
                var templates: [Template] = []
                for id in ["one", "two"] {
                    templates.append(
                        try await ReaderFixture.enrol(
                            as: id, with: readers, on: ReaderFixture.plainID,
                            at: ReaderFixture.plain))
                }
                let log = EventLog()
                let second = await start(readers, templates, log: log)
                try await ReaderFixture.plain.act(.scan("two"), times: 2)
                #expect(try await second.value == .matched(index: 1))
                #expect(log.kinds.contains(.round(next: 2, total: 2)))
                let none = await start(readers, templates)
                try await ReaderFixture.plain.act(.scan("three"), times: 2)
                #expect(try await none.value == .noMatch)
            }
        }

        @Test(
            "a bad scan is reported and repeated, and does not count as a failure",
            arguments: zip(0..<4, [RetryReason.unclear, .tooShort, .offCentre, .removeFinger]))
        func retries(code: Int, reason: RetryReason) async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let log = EventLog()
                let match = await start(readers, [template], log: log)
                try await ReaderFixture.storage.act(.retry(code), times: 3)
                try await ReaderFixture.storage.act(.scan("one"))
                #expect(try await match.value == .matched(index: 0))
                #expect(log.kinds.filter { $0 == .retry(reason) }.count == 3)
            }
        }

        @Test("cancelling in mid-scan ends it at once, and the reader works again")
        func cancel() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let match = await start(readers, [template])
                // Without a finger, nothing else would end it.
                match.cancel()
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
                let again = await start(readers, [template])
                try await ReaderFixture.storage.act(.scan("one"))
                #expect(try await again.value == .matched(index: 0))
            }
        }

        @Test("a task that is cancelled already asks for no finger")
        func cancelledBefore() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let log = EventLog()
                let match = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    return try await readers.match(among: [template], observer: log.observer)
                }
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
                #expect(log.kinds.isEmpty)
            }
        }

        @Test("a limit ends the wait")
        func limit() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                await #expect(throws: ReaderFault.timedOut) {
                    _ = try await readers.match(among: [template], limit: .milliseconds(30))
                }
            }
        }

        @Test("a driver that ignores cancellation does not hold up its caller")
        func stubborn() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let hold = try await readers.hold(ReaderFixture.storageID)
                try await ReaderFixture.storage.act(.cancellation(false))
                let match = await start(readers, [template])
                match.cancel()
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
                try await ReaderFixture.storage.act(.scan("one"))
                withExtendedLifetime(hold) {}
            }
        }

        @Test(
            "unplugging during a scan is reported, and the reader is missing until it is found again"
        )
        func unplug() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let match = await start(readers, [template])
                try await ReaderFixture.storage.act(.unplug)
                await #expect(throws: ReaderFault.removed) { _ = try await match.value }
                let left = await readers.descriptions.map(\.id)
                #expect(!left.contains(ReaderFixture.storageID))
                #expect(left.contains(ReaderFixture.plainID))
                await #expect(throws: ReaderFault.noReader) {
                    _ = try await readers.match(among: [template])
                }
            }
            try await ReaderFixture.withReaders { readers in
                let found = await readers.descriptions.map(\.id)
                #expect(found.contains(ReaderFixture.storageID))
            }
        }

        @Test("unplugging an idle reader is reported to all listeners")
        func unplugIdle() async throws {
            try await ReaderFixture.withReaders { readers in
                let (changes, feed) = AsyncStream<Void>.makeStream()
                await readers.tell { feed.yield() }
                let hold = try await readers.hold(ReaderFixture.storageID)
                try await ReaderFixture.storage.act(.keepAlive(true))
                try await ReaderFixture.storage.act(.unplug)
                for await _ in changes { break }
                let left = await readers.descriptions.map(\.id)
                #expect(!left.contains(ReaderFixture.storageID))
                withExtendedLifetime(hold) {}
            }
        }

        @Test(
            "a fault of the reader ends the match with its kind",
            arguments: [(4, ReaderFault.busy), (5, .protocolError), (257, .tooHot)])
        func faults(code: Int, fault: ReaderFault) async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let match = await start(readers, [template])
                try await ReaderFixture.storage.act(.error(code))
                await #expect(throws: fault) { _ = try await match.value }
            }
        }

        @Test("with two readers the first result wins and the other is let go")
        func twoReaders() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(as: "one", with: readers)
                let two = try await ReaderFixture.enrol(
                    as: "two", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                for _ in 0..<5 {
                    let onPlain = await start(readers, [one, two], readersWaiting: 2)
                    try await ReaderFixture.plain.act(.scan("two"))
                    #expect(try await onPlain.value == .matched(index: 1))
                    let onStorage = await start(readers, [one, two], readersWaiting: 2)
                    try await ReaderFixture.storage.act(.scan("one"))
                    #expect(try await onStorage.value == .matched(index: 0))
                }
                let only = await start(readers, [one, two], on: [ReaderFixture.plainID])
                try await ReaderFixture.plain.act(.scan("three"))
                #expect(try await only.value == .noMatch)
            }
        }

        @Test("with two readers one's fault counts only when the other fails too")
        func twoReadersFault() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(as: "one", with: readers)
                let two = try await ReaderFixture.enrol(
                    as: "two", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                let hit = await start(readers, [one, two], readersWaiting: 2)
                try await ReaderFixture.plain.act(.error(257))
                try await ReaderFixture.storage.act(.scan("one"))
                #expect(try await hit.value == .matched(index: 0))
                let fault = await start(readers, [one, two], readersWaiting: 2)
                try await ReaderFixture.plain.act(.error(257))
                try await ReaderFixture.storage.act(.error(4))
                await #expect(throws: ReaderFault.tooHot) { _ = try await fault.value }
            }
        }

        @Test("cancelling ends the wait on two readers")
        func twoReadersCancelled() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(as: "one", with: readers)
                let two = try await ReaderFixture.enrol(
                    as: "two", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                let match = await start(readers, [one, two], readersWaiting: 2)
                match.cancel()
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
            }
        }

        @Test("an image reader opens, and its unplugging is reported")
        func imageReader() async throws {
            try await ReaderFixture.withReaders { readers in
                let (log, enrolled) = await ReaderFixture.beginEnrolment(
                    with: readers, on: ReaderFixture.imageID)
                try await Task { @concurrent in
                    try ReaderFixture.image.send([
                        .automaticFinger(false), .finger(true), .retry(1),
                    ])
                }.value
                await log.wait(for: .retry(.tooShort))
                try await Task { @concurrent in
                    try ReaderFixture.image.send([.unplug])
                }.value
                await #expect(throws: ReaderFault.removed) { _ = try await enrolled.value }
            }
        }
    }
}

extension Readers {
    fileprivate func tell(_ body: @escaping @ReaderActor () -> Void) {
        changed = body
    }
}
