// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import CommandProtocol
import FingerprintReader
import LoginProtocol
import MainContext
import ReaderProtocol
import Synchronization
import TestSupport
import Testing

extension ReaderTests {
    @Suite("what a reader keeps, listed before a finger is asked for")
    struct ListedMatchTests {
        init() { hurry_virtual_readers(1) }

        /// Starts to match and returns when the readers want a finger.
        private func start(
            _ readers: Readers, _ templates: [Template], _ lists: Lists, readersWaiting: Int = 1
        ) async -> Task<ListedMatch, any Error> {
            let log = EventLog()
            let task = Task {
                try await readers.listAndMatch(
                    among: templates, examine: lists.examine, observer: log.observer)
            }
            for _ in 0..<readersWaiting { await log.wait(for: .fingerNeeded) }
            return task
        }

        @Test("it is its own prints and others', and the finger that comes then matches")
        func contents() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let two = try await ReaderFixture.enrol(.rightIndex, as: "two", with: readers)
                let lists = Lists()
                let match = await start(readers, [two], lists)
                try await ReaderFixture.storage.act(.scan("two"))
                let found = try await match.value
                #expect(found.result == .matched(index: 0))
                #expect(found.reader == ReaderFixture.storageID)
                #expect(lists.readers == [ReaderFixture.storageID])
                let contents = try #require(lists.all.first)
                #expect(contents.prints.count == 2)
                for template in [one, two] {
                    #expect(contents.prints.count { $0.isSame(as: template) } == 1)
                }
                #expect(contents.reader.driver == "virtual_device_storage")
                #expect(contents.reader.serial == nil)
            }
        }

        @Test("a finger that came or went since is in the next list")
        func meanwhile() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let two = try await ReaderFixture.enrol(.rightIndex, as: "two", with: readers)
                let lists = Lists()
                let first = await start(readers, [one, two], lists)
                try await ReaderFixture.storage.act(.insert("stranger"))
                try await ReaderFixture.storage.act(.remove("two"))
                try await ReaderFixture.storage.act(.scan("one"))
                _ = try await first.value
                let second = await start(readers, [one, two], lists)
                try await ReaderFixture.storage.act(.scan("one"))
                _ = try await second.value
                #expect(lists.all.map(\.prints.count) == [2, 2])
                #expect(lists.all[0].prints.count { $0.isSame(as: two) } == 1)
                #expect(lists.all[1].prints.count { $0.isSame(as: one) } == 1)
                #expect(lists.all[1].prints.count { $0.isSame(as: two) } == 0)
            }
        }

        @Test("where it is refused, no finger is asked for")
        func refused() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let log = EventLog()
                await #expect(throws: ReaderFault.cancelled) {
                    _ = try await readers.listAndMatch(
                        among: [one], examine: Lists(accepting: false).examine,
                        observer: log.observer)
                }
                #expect(log.kinds.isEmpty)
                let match = await start(readers, [one], Lists())
                try await ReaderFixture.storage.act(.scan("one"))
                let found = try await match.value
                #expect(found.result != .noMatch, "the reader goes on")
            }
        }

        @Test("readers that keep nothing of one's are not listed")
        func without() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(
                    as: "one", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                let lists = Lists(accepting: false)
                let match = await start(readers, [one], lists)
                try await ReaderFixture.plain.act(.scan("one"))
                #expect(try await match.value.result == .matched(index: 0))
                #expect(lists.all.isEmpty)
            }
        }

        @Test(
            "a list that fails is a fault, never an empty list",
            arguments: [(5, ReaderFault.protocolError), (256, .removed), (257, .tooHot)])
        func failing(code: Int, fault: ReaderFault) async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let hold = try await readers.hold(ReaderFixture.storageID)
                try await ReaderFixture.storage.act(.error(code))
                let lists = Lists()
                await #expect(throws: fault) {
                    _ = try await readers.listAndMatch(among: [one], examine: lists.examine)
                }
                #expect(lists.all.isEmpty)
                withExtendedLifetime(hold) {}
            }
        }

        @Test("cancelled while it is judged, no finger is asked for")
        func cancelled() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(.leftIndex, as: "one", with: readers)
                let log = EventLog()
                let match = Task {
                    try await readers.listAndMatch(
                        among: [one],
                        examine: { _, _ in
                            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                            return true
                        }, observer: log.observer)
                }
                await #expect(throws: ReaderFault.cancelled) { _ = try await match.value }
                #expect(log.kinds.isEmpty)
            }
        }

        @Test("with two readers each has its own list, and the one that matched is reported")
        func twoReaders() async throws {
            try await ReaderFixture.withReaders { readers in
                let one = try await ReaderFixture.enrol(as: "one", with: readers)
                let two = try await ReaderFixture.enrol(
                    as: "two", with: readers, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                let lists = Lists()
                let onPlain = await start(readers, [one, two], lists, readersWaiting: 2)
                try await ReaderFixture.plain.act(.scan("two"))
                #expect(try await onPlain.value.reader == ReaderFixture.plainID)
                let onStorage = await start(readers, [one, two], lists, readersWaiting: 2)
                try await ReaderFixture.storage.act(.scan("one"))
                let found = try await onStorage.value
                #expect(found.result == .matched(index: 0))
                #expect(found.reader == ReaderFixture.storageID)
                #expect(lists.readers == [ReaderFixture.storageID, ReaderFixture.storageID])
            }
        }
    }

    @Suite("what a reader keeps, listed about an enrolment")
    struct ListedEnrolmentTests {
        init() { hurry_virtual_readers(1) }

        /// Enrols, scanning as often as is needed.
        private func enrol(
            _ id: String, _ readers: Readers, _ lists: Lists,
            on reader: String = ReaderFixture.storageID,
            at person: VirtualReader = ReaderFixture.storage
        ) async throws -> (template: Template, contents: ReaderContents?) {
            let log = EventLog()
            let task = Task {
                try await readers.listAndEnroll(
                    .leftIndex, account: "alice", on: reader, examine: lists.examine,
                    observer: log.observer)
            }
            await log.wait(for: .fingerNeeded)
            try await person.act(.scan(id), times: 5)
            return try await task.value
        }

        @Test("it lacks the new print before the enrolment, and has it afterwards")
        func beforeAndAfter() async throws {
            try await ReaderFixture.withReaders { readers in
                let lists = Lists()
                let one = try await enrol("one", readers, lists)
                let two = try await enrol("two", readers, lists)
                #expect(lists.all.map(\.prints.count) == [0, 1])
                let contents = try #require(two.contents)
                #expect(contents.prints.count == 2)
                for template in [one.template, two.template] {
                    #expect(contents.prints.count { $0.isSame(as: template) } == 1)
                }
            }
        }

        @Test("where it is refused, nothing is enrolled")
        func refused() async throws {
            try await ReaderFixture.withReaders { readers in
                let log = EventLog()
                await #expect(throws: ReaderFault.cancelled) {
                    _ = try await readers.listAndEnroll(
                        .leftIndex, account: "alice", on: ReaderFixture.storageID,
                        examine: Lists(accepting: false).examine, observer: log.observer)
                }
                #expect(log.kinds.isEmpty)
                let contents = try await readers.list(on: ReaderFixture.storageID)
                #expect(contents.prints.isEmpty)
            }
        }

        @Test("a reader that lists nothing enrols without")
        func without() async throws {
            try await ReaderFixture.withReaders { readers in
                let lists = Lists(accepting: false)
                let one = try await enrol(
                    "one", readers, lists, on: ReaderFixture.plainID, at: ReaderFixture.plain)
                #expect(one.contents == nil && lists.all.isEmpty)
            }
        }
    }
}

/// What was listed, for later calls.
private final class Lists: Sendable {
    private let kept = Mutex<[(reader: String, contents: ReaderContents)]>([])
    private let accepts: Bool

    init(accepting accepts: Bool = true) {
        self.accepts = accepts
    }

    var all: [ReaderContents] { kept.withLock { $0.map(\.contents) } }
    var readers: [String] { kept.withLock { $0.map(\.reader) } }

    var examine: StorageExamination {
        { [self] reader, contents in
            kept.withLock { $0.append((reader, contents)) }
            return accepts
        }
    }
}
