// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import FingerprintReader
import LoginProtocol
import MainContext
import ReaderProtocol
import TestSupport
import Testing

extension ReaderTests {
    @Suite("discovery")
    struct DiscoveryTests {
        @Test("the readers are found and described")
        func described() async throws {
            try await ReaderFixture.withReaders { readers in
                let found = await readers.descriptions
                #expect(
                    Set(found.map(\.id)) == [
                        ReaderFixture.storageID, ReaderFixture.plainID, ReaderFixture.imageID,
                    ])
                let storage = try #require(found.first { $0.id == ReaderFixture.storageID })
                #expect(storage.features.isSuperset(of: [.identify, .storage, .list, .delete]))
                #expect(storage.enrolStages == 5)
                #expect(!storage.matchesOnHost)
                #expect(storage.galleryCap == Int.max)
                let plain = try #require(found.first { $0.id == ReaderFixture.plainID })
                #expect(plain.features.isDisjoint(with: [.identify, .storage]))
                #expect(plain.galleryCap == 1)
                let image = try #require(found.first { $0.id == ReaderFixture.imageID })
                #expect(image.matchesOnHost)
                #expect(image.temperature == .cold)
            }
        }

        @Test("a missing reader is refused")
        func unknown() async throws {
            try await ReaderFixture.withReaders { readers in
                await #expect(throws: ReaderFault.noReader) {
                    _ = try await readers.enroll(.leftThumb, account: "alice", on: "nothing:0")
                }
                await #expect(throws: ReaderFault.noReader) {
                    _ = try await readers.match(among: [])
                }
            }
        }
    }

    @Suite("enrolment")
    struct EnrolmentTests {
        @Test("enrolment reports each stage and yields a template", arguments: Finger.allCases)
        func stages(finger: Finger) async throws {
            try await ReaderFixture.withReaders { readers in
                let (log, enrolled) = await ReaderFixture.beginEnrolment(finger, with: readers)
                try await ReaderFixture.storage.act(.scan("print"), times: 5)
                let template = try await enrolled.value
                #expect(template.finger == finger)
                #expect(template.driver == "virtual_device_storage")
                #expect(template.account == "alice")
                #expect(template.isStoredOnReader)
                let stages = log.kinds.filter { if case .stage = $0 { true } else { false } }
                #expect(stages == (1...5).map { .stage(done: $0, total: 5) })
                #expect(log.kinds.contains(.fingerNeeded))
                #expect(log.kinds.contains(.fingerPresent))
            }
        }

        @Test(
            "a bad scan is reported with its reason and does not end the enrolment",
            arguments: zip(0..<4, [RetryReason.unclear, .tooShort, .offCentre, .removeFinger]))
        func retries(code: Int, reason: RetryReason) async throws {
            try await ReaderFixture.withReaders { readers in
                let (log, enrolled) = await ReaderFixture.beginEnrolment(
                    with: readers, on: ReaderFixture.plainID)
                try await ReaderFixture.plain.act(.scan("print"))
                try await ReaderFixture.plain.act(.retry(code))
                try await ReaderFixture.plain.act(.scan("print"), times: 4)
                _ = try await enrolled.value
                #expect(log.kinds.contains(.retry(reason)))
                #expect(
                    log.kinds.last { if case .stage = $0 { true } else { false } }
                        == .stage(done: 5, total: 5))
            }
        }

        @Test("the number of stages and the scan type follow the reader")
        func settings() async throws {
            try await ReaderFixture.withReaders { readers in
                let hold = try await readers.hold(ReaderFixture.plainID)
                try await ReaderFixture.plain.act(.stages(2))
                try await ReaderFixture.plain.act(.scanType("press"))
                let (log, enrolled) = await ReaderFixture.beginEnrolment(
                    with: readers, on: ReaderFixture.plainID)
                try await ReaderFixture.plain.act(.scan("print"), times: 2)
                _ = try await enrolled.value
                #expect(log.kinds.contains(.stage(done: 2, total: 2)))
                let described = await readers.descriptions.first { $0.id == ReaderFixture.plainID }
                #expect(described?.scanType == .press)
                try await ReaderFixture.plain.act(.scanType("swipe"))
                withExtendedLifetime(hold) {}
            }
        }

        @Test(
            "a fault of the reader ends the enrolment with its kind",
            arguments: [
                (4, ReaderFault.busy), (5, .protocolError), (7, .notFound), (8, .full),
                (9, .duplicate), (257, .tooHot),
            ])
        func faults(code: Int, fault: ReaderFault) async throws {
            try await ReaderFixture.withReaders { readers in
                let (_, enrolled) = await ReaderFixture.beginEnrolment(with: readers)
                try await ReaderFixture.storage.act(.error(code))
                await #expect(throws: fault) { _ = try await enrolled.value }
            }
        }

        @Test("a general fault keeps the library's words")
        func general() async throws {
            try await ReaderFixture.withReaders { readers in
                let (_, enrolled) = await ReaderFixture.beginEnrolment(with: readers)
                try await ReaderFixture.storage.act(.error(0))
                do {
                    _ = try await enrolled.value
                    Issue.record("the enrolment went through")
                } catch ReaderFault.general(let words) {
                    #expect(!words.isEmpty)
                }
            }
        }

        @Test("a second operation on a reader is refused as busy")
        func busy() async throws {
            try await ReaderFixture.withReaders { readers in
                let (_, enrolled) = await ReaderFixture.beginEnrolment(with: readers)
                await #expect(throws: ReaderFault.busy) {
                    _ = try await readers.list(on: ReaderFixture.storageID)
                }
                try await ReaderFixture.storage.act(.scan("print"), times: 5)
                _ = try await enrolled.value
            }
        }
    }
}
