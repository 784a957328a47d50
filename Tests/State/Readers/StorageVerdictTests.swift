// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Sealing
import State
import Testing

@Suite("what a reader keeps, held against what was recorded")
struct StorageVerdictTests {
    private func storage(
        _ prints: [UInt8], serial: String? = nil, driver: String = "driver"
    ) -> ReaderStorage {
        ReaderStorage(
            driver: driver, device: "0", serial: serial,
            prints: prints.map { [UInt8](repeating: $0, count: 32) })
    }

    @Test("does not depend on the order in which prints are listed")
    func same() {
        #expect(storage([2, 1, 2]).verdict(against: [storage([1, 2])]) == .same)
        #expect(storage([]).verdict(against: [storage([])]) == .same)
    }

    @Test("reports what was added, what was removed, and a reader that was exchanged")
    func changed() {
        let changes: [([UInt8], InvalidationCause)] = [
            ([1, 2, 3], .fingerAddedOnReader), ([1], .fingerRemovedOnReader),
            ([], .fingerRemovedOnReader), ([1, 3], .fingerAddedOnReader),
            ([3, 4], .readerExchanged),
        ]
        for (now, cause) in changes {
            #expect(
                storage(now).verdict(against: [storage([1, 2])]) == .changed(cause), "\(now)")
        }
        let first = storage([], serial: "1")
        let more = storage([9], serial: "1")
        #expect(more.verdict(against: [first]) == .changed(.fingerAddedOnReader))
    }

    @Test("another serial number is another reader, whatever it keeps")
    func serials() {
        let recorded = [storage([1], serial: "1")]
        for serial in ["2", nil] {
            let other = storage([1], serial: serial)
            #expect(other.verdict(against: recorded) == .changed(.readerExchanged))
        }
        let both = recorded + [storage([2], serial: "2")]
        #expect(storage([2], serial: "2").verdict(against: both) == .same)
        #expect(
            storage([1], serial: "2").verdict(against: both) == .changed(.readerExchanged))
    }

    @Test("a reader without a record is accepted as it is; other kinds are ignored")
    func unrecorded() {
        #expect(storage([1]).verdict(against: []) == .unrecorded(replacing: nil))
        let other = storage([1], driver: "another")
        #expect(storage([1]).verdict(against: [other]) == .unrecorded(replacing: nil))
    }

    @Test("where the unit was not known, what it keeps decides")
    func unknownUnit() {
        let recorded = [storage([7], driver: "another"), storage([1])]
        #expect(
            storage([1], serial: "1").verdict(against: recorded) == .unrecorded(replacing: 1))
        #expect(
            storage([1, 2], serial: "1").verdict(against: recorded)
                == .changed(.fingerAddedOnReader))
    }

    @Test("two indistinguishable readers stand for each other")
    func twins() {
        let recorded = [storage([1]), storage([2])]
        #expect(storage([2]).verdict(against: recorded) == .same)
        #expect(storage([1, 2]).verdict(against: recorded) == .changed(.fingerAddedOnReader))
    }
}

@Suite("the enrolment state over what readers keep")
struct StorageStateTests {
    private let state: EnrolmentState

    init() throws {
        state = try #require(
            EnrolmentState(generation: 7, digest: [UInt8](repeating: 5, count: 32)))
    }

    private func storage(
        _ prints: [UInt8], driver: String = "d", device: String = "0", serial: String? = nil
    ) -> ReaderStorage {
        ReaderStorage(
            driver: driver, device: device, serial: serial,
            prints: prints.map { [UInt8](repeating: $0, count: 32) })
    }

    @Test("without any reader it is what it always was")
    func none() throws {
        #expect(try state.covering([]) == state)
    }

    @Test("it changes with any difference, and not with the order")
    func digest() throws {
        let variants: [[ReaderStorage]] = [
            [], [storage([])], [storage([1])], [storage([2])], [storage([1, 2])],
            [storage([1], driver: "e")], [storage([1], device: "1")],
            [storage([1], serial: "")], [storage([1], serial: "1")],
            [storage([1]), storage([2])], [storage([1]), storage([1])],
            [storage([1], driver: "d0", device: "")], [storage([1], driver: "", device: "d0")],
        ]
        let digests = try variants.map { try state.covering($0).digest }
        #expect(Set(digests).count == variants.count)
        #expect(
            try state.covering([storage([2, 1]), storage([3])])
                == state.covering([storage([3]), storage([1, 2, 1])]))
        #expect(try state.covering([storage([1])]).generation == 7)
        let other = try #require(EnrolmentState(generation: 8, digest: state.digest))
        #expect(try other.covering([storage([1])]).digest != digests[2])
    }
}
