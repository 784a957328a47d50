// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Readers whose answers say something else than they should, or come when they should not.
///
/// A driver may crash of it, or hang: that gives no access, and the next touch is taken. Beside the
/// other tests of the daemon, for most of the time is spent on waiting for drivers.
@Suite("readers that answer wrongly", .serialized) struct DistortedReaderTests {
    /// A login that waits for a finger, and how long it takes at the most: as long as it may, as a
    /// driver that does not heed cancellation, and as a busy machine.
    private static let login = Request.login(.daemon, tries: 1, milliseconds: patience)
    private static let (patience, limit) = (UInt32(700), Duration.seconds(6))

    private struct Distortion: Sendable {
        let model: PlayedReader.Model
        let fault: PlayedReader.Fault

        /// Each fault with one model, the models in turn; with each model where `make fuzz` has time.
        static var chosen: [Distortion] {
            let models = PlayedReader.Model.allCases
            return PlayedReader.Fault.distortions.enumerated().flatMap { index, fault in
                (fuzzing == nil ? [models[index % models.count]] : models).map {
                    Distortion(model: $0, fault: fault)
                }
            }
        }
    }

    @Test(
        "give no access, take no longer than allowed, and work with the next touch",
        .timeLimit(.minutes(5)),
        arguments: Distortion.chosen)
    private func distorted(distortion: Distortion) throws {
        let (model, fault) = (distortion.model, distortion.fault)
        let played = try PlayedFixture(model, enrolled: "one")
        let what = "\(model), \(fault)"
        let waiting = try played.begin(milliseconds: Self.patience)
        try played.give(.fault(fault))
        try? played.reader.send(.brush("two"), within: .seconds(1))
        expectNobody(try waiting.last(), model, fault)
        try played.mend(fault)
        try played.expectRecovery(with: "one", after: "\(what) at a touch")
        let enrolled = try played.begin(milliseconds: Self.patience)
        try played.give(.fault(fault))
        try? played.reader.send(.brush("one"), within: .seconds(1))
        _ = try played.conclude(enrolled)
        try played.mend(fault)
        let next = try played.touching(Self.login, with: "two")
        expectNobody(afterEnrolled: next, model, fault)
        try played.expectRecovery(with: "one", after: "\(what) at an enrolled finger")
        try played.give(.fault(fault))
        let start = ContinuousClock.now
        let answer = try played.touching(Self.login, with: "two")
        #expect(ContinuousClock.now - start < Self.limit, "\(what)")
        expectNobody(answer, model, fault)
        try played.mend(fault)
        try played.expectRecovery(with: "one", after: "\(what) from the start")
    }

    private func expectNobody(
        _ answer: Answer, _ model: PlayedReader.Model, _ fault: PlayedReader.Fault
    ) {
        if model == .elanmoc, fault == .truncated {
            // Its driver reads what is missing as 0, and 0 as "matches the first print". Who can
            // shorten what a reader says can also have it say that.
            withKnownIssue(isIntermittent: true) { #expect(answer.assertion == nil) }
            return
        }
        #expect(answer.assertion == nil, "\(model), \(fault)")
        if let reason = answer.reason { #expect(Self.honest.contains(reason), "\(reason)") }
    }

    /// What was said of an enrolled finger does not count for the next one.
    private func expectNobody(
        afterEnrolled answer: Answer, _ model: PlayedReader.Model, _ fault: PlayedReader.Fault
    ) {
        // synaptics' driver would take what the reader has not got rid of for the answer to what it asks
        // next, though the number in it is of another question: the reader is reset before.
        #expect(answer.assertion == nil, "\(model), \(fault)")
    }

    /// What can be said of such a reader. A list that lacks the account's print says that it is lost.
    private static let honest: Set<DenialReason> = [
        .readerConfused, .readerFailed, .readerBusy, .timedOut, .noMatch, .invalidated,
    ]

    @Test(
        "whatever happens to their answers, accept the right finger and no other",
        arguments: PlayedReader.Model.allCases)
    func fuzzed(model: PlayedReader.Model) throws {
        let played = try PlayedFixture(model, enrolled: "one")
        let (seeds, end) = Self.extent
        var (seed, second) = (UInt64(0), 0)
        while seed < seeds || ContinuousClock.now < end {
            seed += 1
            let what = "\(model), seed \(seed)"
            try played.give(.distort(seed: seed))
            let start = ContinuousClock.now
            // Every third time root lists what is stored, which has more time.
            let lists = seed % 3 == 0
            let request = lists ? .readerPrints(ReaderPrintsRequest(.list)) : Self.login
            let answer = try played.touching(request, with: "two")
            let limit = Self.limit + (lists ? .seconds(10) : .zero)
            #expect(ContinuousClock.now - start < limit, "\(what)")
            #expect(answer.assertion == nil, "\(what)")
            try played.settle(.distort(seed: 0))
            if try played.expectRecovery(with: "one", after: what) { second += 1 }
            try played.fixture.setFailures(0, of: .daemon)
        }
        if seed > seeds {
            print("\(model): \(seed) seeds, \(second) times two touches")
        }
    }

    /// How many seeds at the least, and until when: a few, unless `make fuzz` says more.
    private static var extent: (UInt64, ContinuousClock.Instant) {
        (3, ContinuousClock.now + .seconds(fuzzing ?? 0))
    }

    /// How many seconds `make fuzz` gives each model.
    private static let fuzzing = unsafe getenv("FUZZ_SECONDS").flatMap {
        unsafe Int(String(cString: $0))
    }
}
