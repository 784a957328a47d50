// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    /// The commands as they are installed, on a bus with signet-fprint, the daemon and a reader.
    @Suite("fprintd's commands") struct FprintdClientTests {
        private static let user = Person.daemon.name
        private static let device = DesktopBusClient.device

        private func start(
            _ fixture: InterfaceFixture, _ words: [String], as person: Person? = nil
        ) throws -> TestSupport.Program {
            var command = [try Built.program("fprintd-client")] + words
            if let person {
                let id = "\(person.uid)"
                command = ["setpriv", "--reuid", id, "--regid", id, "--clear-groups"] + command
            }
            let address = "unix:path=\(fixture.desktop.bus.socket)"
            return try TestSupport.Program(
                Command(command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": address]))
        }

        /// The exit status, and the lines on standard output.
        private func end(_ program: TestSupport.Program) throws -> (status: Int32, lines: [String])
        {
            let outcome = try program.expectEnd()
            guard case .exited(let status) = outcome.ending else {
                throw TestFault.closed(awaited: "an exit status", transcript: "\(outcome)")
            }
            #expect(outcome.errors.isEmpty, "\(outcome.errors)")
            return (status, outcome.output.split(separator: "\n").map(String.init))
        }

        private func run(
            _ fixture: InterfaceFixture, _ words: String..., as person: Person? = nil
        ) throws -> (status: Int32, lines: [String]) {
            try end(try start(fixture, words, as: person))
        }

        /// Waits until the reader waits for a finger.
        private func awaitReader(_ client: DesktopBusClient) throws {
            try client.wait(for: "finger-needed true")
            try client.forget()
        }

        @Test("enrol, list, verify and delete a finger, and say what fprintd's say")
        func all() throws {
            let fixture = try InterfaceFixture(enrolled: false)
            let client = try fixture.client()
            let name = try #require(try client.property("name")?.variant?.string)
            let found = [
                "found 1 devices", "Device at \(Self.device)", "Using device \(Self.device)",
            ]
            let none = try run(fixture, "list", Self.user)
            #expect(none.status == 0)
            #expect(
                none.lines == found + ["User \(Self.user) has no fingers enrolled for \(name)."])

            let enrolling = try start(fixture, ["enroll", "-f", "left-thumb", Self.user])
            try awaitReader(client)
            // It is compared first, and then scanned five times. Between the two no finger is awaited.
            for count in 1...6 {
                try fixture.daemon.storage.send(.scan("one"))
                if count < 6 { try enrolling.expect("enroll-stage-passed", times: count) }
            }
            let enrolled = try end(enrolling)
            #expect(enrolled.status == 0)
            let stage = "Enroll result: enroll-stage-passed"
            #expect(
                enrolled.lines == [
                    "Using device \(Self.device)", "Enrolling left-thumb finger.", stage, stage,
                    stage, stage, stage, "Enroll result: enroll-completed",
                ])

            let listed = try run(fixture, "list", Self.user)
            #expect(listed.status == 0)
            #expect(
                listed.lines == found + [
                    "Fingerprints for user \(Self.user) on \(name) (swipe):", " - #0: left-thumb",
                ])

            for (finger, result, status) in [
                ("one", "verify-match", Int32(0)), ("stranger", "verify-no-match", 1),
            ] {
                let verifying = try start(fixture, ["verify", Self.user])
                try verifying.expect("Verify started!\n")
                try awaitReader(client)
                try fixture.daemon.storage.send(.retry(1))
                try verifying.expect("Verify result: verify-swipe-too-short (not done)\n")
                try fixture.daemon.storage.send(.scan(finger))
                let verified = try end(verifying)
                #expect(verified.status == status)
                #expect(
                    verified.lines == [
                        "Using device \(Self.device)", "Listing enrolled fingers:",
                        " - #0: left-thumb", "Verify started!", "Verifying: left-thumb",
                        "Verify result: verify-swipe-too-short (not done)",
                        "Verify result: \(result) (done)",
                    ])
            }

            let other = try run(fixture, "delete", Self.user, "-f", "right-thumb")
            #expect(other.status == 0 && other.lines.last == "No fingerprints to delete on \(name)")
            let deleted = try run(fixture, "delete", Self.user)
            #expect(deleted.status == 0)
            #expect(
                deleted.lines == found + ["Fingerprints of user \(Self.user) deleted on \(name)"])
            let again = try run(fixture, "delete", Self.user)
            #expect(again.status == 0 && again.lines.last == "No fingerprints to delete on \(name)")
        }

        @Test("act for their own user without a name, with polkit's consent")
        func caller() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let verifying = try start(fixture, ["verify"], as: .daemon)
            try verifying.expect("Verify started!\n")
            try awaitReader(client)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try end(verifying).status == 0)
            let one = try run(fixture, "delete", "", "--finger=right-index-finger", as: .daemon)
            #expect(one.status == 0, "\(one.lines)")
            #expect(one.lines.last?.hasPrefix("Fingerprint right-index-finger of user ") == true)
        }

        @Test("end with 1 and the service's error where it refuses, and change nothing")
        func refusals() throws {
            let fixture = try InterfaceFixture()
            let error = "GDBus.Error:net.reactivated.Fprint.Error."
            let thumb = try run(fixture, "verify", "-f", "left-thumb", Self.user)
            #expect(thumb.status == 1)
            #expect(thumb.lines.last == "Finger 'left-thumb' not enrolled for user \(Self.user).")
            let nobody = try run(fixture, "verify", "no-such-user")
            #expect(nobody.status == 1)
            #expect(nobody.lines.last?.hasPrefix("ListEnrolledFingers failed: \(error)") == true)
            let invalid = try run(fixture, "enroll", "-f", "any", Self.user)
            #expect(invalid.status == 1)
            #expect(
                invalid.lines.last?.hasPrefix("Invalid finger name 'any'. Name must be") == true)
            let wrong = try run(fixture, "delete", Self.user, "-f", "thumb")
            #expect(wrong.status == 1)
            #expect(
                wrong.lines.last?.hasPrefix(
                    "Failed to delete fingerprints: \(error)InvalidFingername: ") == true)
            // The fingers of another account.
            for words in [["verify", Self.user], ["enroll", Self.user], ["delete", Self.user]] {
                let foreign = try end(try start(fixture, words, as: .bin))
                #expect(foreign.status == 1, "\(words)")
                #expect(foreign.lines.last?.contains(error) == true, "\(foreign.lines)")
            }
            // Claimed by another client.
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            let claimed = try run(fixture, "enroll", Self.user)
            #expect(claimed.status == 1)
            #expect(
                claimed.lines.last?.hasPrefix("failed to claim device: \(error)AlreadyInUse")
                    == true)
            #expect(try run(fixture, "list", Self.user).lines.last == " - #0: right-index-finger")
        }

        @Test("say that there is no reader, no service and no bus, and that the service has ended")
        func absent() throws {
            let empty = try InterfaceFixture([], enrolled: false)
            #expect(try run(empty, "list", Self.user).lines == ["No devices available"])
            let none = try run(empty, "verify", Self.user)
            #expect(none.status == 1)
            #expect(
                none.lines.last?.hasPrefix(
                    "Impossible to verify: GDBus.Error:net.reactivated.Fprint.Error.NoSuchDevice")
                    == true)
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let verifying = try start(fixture, ["verify", Self.user])
            try awaitReader(client)
            fixture.program.signal(SIGKILL)
            let ended = try end(verifying)
            #expect(ended.status == 1)
            #expect(ended.lines.last == "the fingerprint service has ended. Try again")
            #expect(try run(fixture, "list", Self.user).status == 1)
            fixture.desktop.bus.end()
            let alone = try run(fixture, "list", Self.user)
            #expect(alone.status == 1)
            #expect(alone.lines.last?.hasPrefix("Failed to connect to the system bus: ") == true)
        }

        @Test("hear no results but the service's, whatever other clients of the bus send")
        func forged() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let verifying = try start(fixture, ["verify", Self.user])
            try awaitReader(client)
            let sent = try TestSupport.Program(
                Command([
                    "dbus-send", "--bus=unix:path=\(fixture.desktop.bus.socket)", "--type=signal",
                    Self.device, "net.reactivated.Fprint.Device.VerifyStatus",
                    "string:verify-match", "boolean:true",
                ]))
            #expect(try sent.expectEnd().succeeded)
            try fixture.daemon.storage.send(.scan("stranger"))
            let verified = try end(verifying)
            #expect(verified.status == 1)
            #expect(verified.lines.last == "Verify result: verify-no-match (done)")
        }
    }
}
