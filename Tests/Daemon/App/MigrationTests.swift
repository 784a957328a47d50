// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a state directory of version 1") struct MigrationTests {
        @Test("accepts the fingers that were enrolled then, and no others")
        func goesOn() throws {
            let fixture = try DaemonFixture([.text]) {
                try EarlierState.copy(version: 1, to: $0.state)
            }
            let before = try fixture.status(of: .daemon)
            #expect(before.prints == 2 && before.damaged == 0 && before.state == .valid)
            #expect(try fixture.failures(of: .daemon) == 2)
            #expect(try fixture.ask(.login(.bin)).reason == .notEnabled)
            #expect(try fixture.ask(.login(.sys)).reason == .notEnrolled)
            let stranger = try fixture.touchEach(.login(.daemon, tries: 1), with: "three")
            #expect(stranger.reason == .noMatch)
            #expect(try fixture.failures(of: .daemon) == 3)
            let answer = try fixture.touchEach(.login(.daemon, tries: 2), with: "two")
            let statement = try Statement(parsing: try #require(answer.assertion).statement)
            #expect(statement.enrolment == 2 && statement.counter > 5)
            // A change of fingers is one more generation, and the old finger stays good.
            let added = try fixture.enrol(.daemon, .leftThumb, as: "five")
            #expect(added.done == DoneAnswer(finger: .leftThumb, prints: 3, state: .valid))
            #expect(
                try fixture.touchEach(.login(.daemon, tries: 3), with: "one").assertion != nil)
            #expect(try fixture.status(of: .daemon).generation == 3)
        }

        @Test(
            "that a later version wrote is not touched, and the daemon says why it does not start")
        func newer() throws {
            let fixture = try DaemonFixture([.text])
            fixture.program.signal(15)
            try fixture.program.expectEnd()
            try DaemonFixture.write("signet-state: 5\n", to: fixture.state + "/version")
            let again = try TestSupport.Program(Command(fixture.arguments))
            #expect(try again.expectEnd().ending == .exited(1))
            #expect(again.errors.contains("has version 5, which this program does not support"))
            #expect(
                try Layout.read(fixture.state + "/version") == Array("signet-state: 5\n".utf8))
        }
    }
}
