// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DriverTests {
    /// libfprint's virtual readers in the cases that the played ones go through: one that keeps prints
    /// and finds one among many, and one that keeps none and compares with one.
    @Suite("virtual readers") struct VirtualCaseTests {
        /// The readers.
        static let kinds = [DaemonFixture.Kind.storage, .text]

        /// FpDeviceError of libfprint's fp-device.h.
        private enum DeviceError {
            static let (full, duplicate) = (8, 9)
        }

        private static let enrolment = Request.enroll(
            account: Person.daemon.account, finger: .leftIndex, readerID: nil)

        @Test("a finger is asked for once and accepted, and another is not", arguments: kinds)
        func round(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            let client = try fixture.begin()
            try reader.send(.scan("one"))
            #expect(try fixture.conclude(client).assertion != nil)
            #expect(client.heard.count { $0.notice?.kind == .touch } == 1)
            #expect(try fixture.login(.daemon, with: "two").reason == .noMatch)
            #expect(try fixture.settledFailures() == 1)
        }

        @Test("a finger that is held down is accepted", arguments: kinds)
        func held(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            let client = try fixture.begin()
            // Otherwise the reader's socket goes with the scan, and the lifted finger is not noticed.
            try reader.send(.keepAlive(true))
            try reader.send(.finger(true))
            try reader.send(.scan("one"))
            #expect(try fixture.conclude(client, within: .seconds(2)).assertion != nil)
            try reader.send(.finger(false))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a reader that could not be opened is opened by the next request", arguments: kinds)
        func opening(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            try fixture.obstruct(reader)
            #expect(try fixture.ask(.login(.daemon)).reason == .readerFailed)
            try #require(unsafe rmdir(reader.path) == 0)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("a reader unplugged in mid-scan is used again when it is back", arguments: kinds)
        func unplugged(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            let client = try fixture.begin()
            try fixture.unplug(reader)
            #expect(try client.last().reason == .readerRemoved)
            fixture.plugIn(reader)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("a reader that reports nothing is awaited no longer than allowed", arguments: kinds)
        func mute(kind: DaemonFixture.Kind) throws {
            let (fixture, _) = try enrolled(kind)
            let start = ContinuousClock.now
            let answer = try fixture.ask(.login(.daemon, tries: 1, milliseconds: 1_000))
            #expect(answer.reason == .timedOut)
            #expect(ContinuousClock.now - start < .seconds(6))
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("a driver that ignores cancellation delays no other request", arguments: kinds)
        func stubborn(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            let client = try fixture.begin()
            try reader.send(.cancellation(false))
            try client.send(.cancel)
            #expect(try client.last(within: .seconds(4)).reason == .cancelled)
            // Its process ends over it, and the next one has the reader.
            #expect(try fixture.touchEach(.login(.daemon, tries: 1), with: "one").assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("a driver that crashes costs one touch and no attempt", arguments: kinds)
        func crash(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            let client = try fixture.begin()
            try fixture.killReaders()
            #expect(try client.wait(for: .retry).retry == .restarted)
            try client.wait(for: .touch)
            try reader.send(.scan("one"))
            #expect(try fixture.conclude(client).assertion != nil)
            #expect(try fixture.settledFailures() == 0)
        }

        @Test("a print that the reader has lost opens nothing and counts as no attempt")
        func lost() throws {
            let (fixture, _) = try enrolled(.storage)
            try fixture.change { $0.filter { $0 != "one" } }
            #expect(try fixture.ask(.login(.daemon, tries: 1)).reason == .invalidated)
            #expect(try fixture.settledFailures() == 0)
            #expect(try fixture.enrol(.daemon, as: "one", checking: true).done?.prints == 1)
            #expect(
                try fixture.ask(.enable(account: Person.daemon.account)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test(
            "a finger that another system left on the reader is not enrolled, as it could not match"
        )
        func foreign() throws {
            let (fixture, _) = try enrolled(.storage)
            try fixture.change { $0 + ["theirs"] }
            let refused = try fixture.enrol(.daemon, .leftIndex, as: "theirs", checking: true)
            #expect(refused.reason == .fingerOnReader)
            #expect(try fixture.status(of: .daemon).prints == 1)
        }

        @Test("a full reader, and a duplicate, are reported as such", arguments: kinds)
        func refusing(kind: DaemonFixture.Kind) throws {
            let (fixture, reader) = try enrolled(kind)
            for (error, reason) in [
                (DeviceError.full, DenialReason.readerFull),
                (DeviceError.duplicate, .fingerOnReader),
            ] {
                let client = try fixture.client()
                try client.send(Self.enrolment)
                // Where it is asked whose the finger is before.
                while try client.wait(for: .touch).total == nil { try reader.send(.scan("new")) }
                try reader.send(.error(error))
                #expect(try client.last().reason == reason)
            }
            #expect(try fixture.status(of: .daemon).prints == 1)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a finger that is enrolled again replaces its print", arguments: kinds)
        func again(kind: DaemonFixture.Kind) throws {
            let (fixture, _) = try enrolled(kind)
            let answer = try fixture.enrol(.daemon, as: "again", checking: kind == .storage)
            #expect(answer.done?.prints == 1)
            if kind == .storage { #expect(try fixture.stored() == ["again"]) }
            #expect(try fixture.login(.daemon, with: "again").assertion != nil)
        }

        /// A daemon on a reader with a finger of `daemon`'s.
        private func enrolled(_ kind: DaemonFixture.Kind) throws -> (DaemonFixture, VirtualReader) {
            let fixture = try DaemonFixture([kind])
            #expect(try fixture.enrol(.daemon, as: "one").done?.prints == 1)
            return (fixture, kind == .text ? fixture.text : fixture.storage)
        }
    }
}
