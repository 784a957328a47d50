// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DriverTests {
    /// Real drivers of libfprint, on readers that answer their USB messages: what each of them does
    /// when a user logs in. One table: docs/admin/READERS.md.
    @Suite("real drivers") struct PlayedReaderTests {
        @Test(
            "accepts an enrolled finger, and no other",
            arguments: PlayedReader.Model.allCases)
        func round(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            #expect(played.reader.stored == ["one"])
            #expect(try played.login(with: "one").assertion != nil)
            #expect(try played.login(with: "two").reason == .noMatch)
            #expect(try played.failures == 1)
        }

        @Test(
            "an enrolment's progress ends complete, also where fewer scans do than were announced",
            arguments: PlayedReader.Model.allCases)
        func progress(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model)
            let client = try played.fixture.client()
            #expect(try played.enrol(as: "one", by: client).done?.prints == 1)
            let stages = client.heard.compactMap(\.notice).filter { $0.kind == .stage }
            let total = try #require(stages.last?.total)
            #expect(total >= model.stages && stages.allSatisfy { $0.total == total })
            #expect(stages.last?.done == total)
            #expect(zip(stages, stages.dropFirst()).allSatisfy { ($0.done ?? 0) <= ($1.done ?? 0) })
        }

        @Test(
            "a finger is asked for once, whatever the driver reports",
            arguments: PlayedReader.Model.allCases)
        func prompt(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            let start = ContinuousClock.now
            let client = try played.begin()
            #expect(ContinuousClock.now - start < .seconds(2))
            try played.reader.send(.touch("one"))
            #expect(try client.last().assertion != nil)
            #expect(client.heard.count { $0.notice?.kind == .touch } == 1)
        }

        @Test(
            "a finger that is held down is accepted, and the next request waits until it is lifted",
            arguments: PlayedReader.Model.allCases)
        func held(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            let client = try played.begin()
            try played.reader.send(.hold("one"))
            #expect(try played.conclude(client, within: .seconds(2)).assertion != nil)
            try played.reader.send(.lift)
            #expect(try played.login(with: "one").assertion != nil)
        }

        @Test(
            "a reader that could not be opened is opened by the next request",
            arguments: PlayedReader.Model.allCases)
        func opening(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            for fault in [PlayedReader.Fault.open, .claim] {
                try played.reader.send(.fault(fault))
                try played.expect(.readerFailed) { try played.fixture.ask(.login(.daemon)) }
                try played.mend(fault)
                #expect(try played.login(with: "one").assertion != nil)
            }
            try played.expectNoFailures()
        }

        @Test(
            "a reader unplugged in mid-scan is used again when it is back",
            arguments: PlayedReader.Model.allCases)
        func unplugged(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            let client = try played.begin()
            try played.reader.send(.unplug)
            // Where the driver dies of it, the next process finds the reader, and asks again.
            if model.diesOfFailures { try client.send(.cancel) }
            try played.expect(.readerRemoved) { try client.last() }
            try played.settle(.plugIn)
            #expect(try played.login(with: "one").assertion != nil)
            try played.expectNoFailures()
        }

        @Test(
            "a reader that does not answer is not awaited without end",
            arguments: PlayedReader.Model.allCases)
        func mute(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.fault(.mute))
            let start = ContinuousClock.now
            let answer = try played.touching(
                .login(.daemon, tries: 1, milliseconds: 1_000), with: "one")
            // fpcmoc's driver opens the reader without that answer, after a second that is not the
            // user's, and the finger counts.
            if model == .fpcmoc {
                #expect(answer.assertion != nil)
            } else {
                #expect(answer.reason == .readerFailed)
            }
            #expect(ContinuousClock.now - start < .seconds(30))
            try played.mend(.mute)
            try played.expectRecovery(with: "one", after: "a mute reader")
            try played.expectNoFailures()
        }

        @Test(
            "a driver that ignores cancellation delays neither its caller nor the next",
            arguments: PlayedReader.Model.allCases)
        func stubborn(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.fault(.stubborn))
            let client = try played.begin()
            try client.send(.cancel)
            try played.expect(.cancelled) { try client.last(within: .seconds(4)) }
            // Its process ends over it, and the next one has the reader.
            #expect(try played.touching(.login(.daemon), with: "one").assertion != nil)
            try played.expectNoFailures()
        }

        @Test(
            "a driver that crashes costs one touch and no attempt: the user is asked to touch again",
            arguments: PlayedReader.Model.allCases)
        func crash(model: PlayedReader.Model) throws {
            let played = try PlayedFixture(model, enrolled: "one")
            try played.reader.send(.fault(.crash))
            let client = try played.begin()
            try? played.reader.send(.touch("one"), within: .seconds(1))
            #expect(try client.wait(for: .retry).retry == .restarted)
            try client.wait(for: .touch)
            try played.reader.send(.touch("one"))
            #expect(try played.conclude(client).assertion != nil)
            try played.expectNoFailures()
            #expect(try played.login(with: "two").reason == .noMatch)
            #expect(try played.failures == 1)
        }

        @Test("a cancelled scan of fpcmoc gives no access, even if its driver crashes")
        func cancelled() throws {
            let played = try PlayedFixture(.fpcmoc, enrolled: "one")
            let client = try played.begin()
            try client.send(.cancel)
            try played.expect(.cancelled) { try client.last() }
            #expect(try played.touching(.login(.daemon), with: "one").assertion != nil)
            #expect(try played.login(with: "two").reason == .noMatch)
            #expect(try played.failures == 1)
        }

        @Test("a service that is slow to have its reader ready says that it is there")
        func slow() throws {
            let played = try PlayedFixture(.elanmoc, enrolled: "one")
            try played.reader.send(.fault(.mute))
            let client = try played.fixture.client()
            client.skipsSigns = false
            let start = ContinuousClock.now
            try client.send(.login(.daemon))
            try client.wait(for: .preparing)
            #expect(ContinuousClock.now - start < .seconds(1))
            try client.wait(for: .preparing)
        }
    }
}
