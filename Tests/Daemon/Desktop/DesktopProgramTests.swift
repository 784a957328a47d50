// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    /// The whole way: a client of the bus, signet-fprint, the daemon, a reader.
    @Suite("signet-fprint") struct DesktopProgramTests {
        private typealias Outcome = DesktopBusClient.Outcome
        private static let user = Person.daemon.name

        @Test("lists the readers with their properties")
        func devices() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let (manager, path) = ("/net/reactivated/Fprint/Manager", DesktopBusClient.device)
            #expect(
                try client.call("GetDevices", answer: "(ao)", of: "Manager", at: manager)
                    == .values([.array(of: "o", [.objectPath(path)])]))
            #expect(
                try client.call("GetDefaultDevice", answer: "(o)", of: "Manager", at: manager)
                    == .values([.objectPath(path)]))
            #expect(try client.property("scan-type") == .variant(.string("swipe")))
            #expect(try client.property("num-enroll-stages") == .variant(.int32(6)))
            #expect(try client.property("finger-needed") == .variant(.boolean(false)))
            #expect(try client.property("finger-present") == .variant(.boolean(false)))
            guard
                case .values(let objects) = try client.call(
                    "GetManagedObjects", answer: "(a{oa{sa{sv}}})",
                    of: "org.freedesktop.DBus.ObjectManager", at: "/net/reactivated/Fprint")
            else { throw TestFault.closed(awaited: "objects", transcript: "") }
            #expect("\(objects)".contains(path) && "\(objects)".contains("num-enroll-stages"))
        }

        @Test("there is no default device where there is no reader")
        func noDevice() throws {
            let fixture = try InterfaceFixture([], enrolled: false)
            let client = try fixture.client()
            let manager = "/net/reactivated/Fprint/Manager"
            #expect(
                try client.call("GetDevices", answer: "(ao)", of: "Manager", at: manager)
                    == .values([.array(of: "o", [])]))
            #expect(
                try client.call("GetDefaultDevice", answer: "(o)", of: "Manager", at: manager)
                    == .error("NoSuchDevice"))
        }

        @Test("a verification tells the claimer alone, in order, and must be stopped")
        func verify() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.retry(1))
            try client.wait(for: "VerifyStatus verify-swipe-too-short false")
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "VerifyStatus verify-match true")
            let signals = try client.signals().filter { $0.hasPrefix("Verify") }
            #expect(
                signals == [
                    "VerifyFingerSelected right-index-finger",
                    "VerifyStatus verify-swipe-too-short false", "VerifyStatus verify-match true",
                ])
            #expect(try client.property("finger-needed") == .variant(.boolean(false)))
            #expect(try client.call("VerifyStart", "any") == .error("AlreadyInUse"))
            #expect(try client.call("VerifyStop") == .done)
            #expect(try client.call("VerifyStop") == .error("NoActionInProgress"))
            try client.forget()
            #expect(try client.call("VerifyStart", "right-index-finger") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.scan("stranger"))
            try client.wait(for: "VerifyStatus verify-no-match true")
            #expect(try client.call("VerifyStop") == .done)
            #expect(try client.call("Release") == .done)
            #expect(try other.signals().filter { $0.hasPrefix("Verify") }.isEmpty)
            #expect(try fixture.daemon.settledFailures() == 1)
        }

        @Test("a claim keeps other clients out, and everything else wants one")
        func claims() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            let calls: [(String, String?)] = [
                ("Release", nil), ("VerifyStart", "any"), ("VerifyStop", nil),
                ("EnrollStart", "left-thumb"), ("EnrollStop", nil),
                ("DeleteEnrolledFinger", "left-thumb"), ("DeleteEnrolledFingers2", nil),
            ]
            for (member, argument) in calls {
                #expect(try client.call(member, argument) == .error("ClaimDevice"), "\(member)")
            }
            #expect(try client.call("Claim", Self.user) == .done)
            for (member, argument) in calls + [("Claim", Self.user)] {
                #expect(try other.call(member, argument) == .error("AlreadyInUse"), "\(member)")
            }
            #expect(try client.call("Claim", Self.user) == .error("AlreadyInUse"))
            #expect(
                try other.call("DeleteEnrolledFingers", Self.user) == .error("AlreadyInUse"))
            #expect(try client.call("EnrollStart", "any") == .error("InvalidFingername"))
            #expect(try client.call("EnrollStart", "thumb") == .error("InvalidFingername"))
            #expect(
                try client.call("DeleteEnrolledFinger", "any") == .error("InvalidFingername"))
            #expect(try client.call("VerifyStart", "left-thumb") == .error("NoEnrolledPrints"))
            #expect(try client.call("VerifyStop") == .error("NoActionInProgress"))
            #expect(try client.call("EnrollStop") == .error("NoActionInProgress"))
            #expect(try client.call("Release") == .done)
            #expect(try other.call("Claim", Self.user) == .done)
        }

        @Test("enrols, lists and deletes fingers")
        func enrol() throws {
            let fixture = try InterfaceFixture(enrolled: false)
            let client = try fixture.client()
            func list() throws -> Outcome {
                try client.call("ListEnrolledFingers", Self.user, answer: "(as)")
            }
            #expect(try list() == .error("NoEnrolledPrints"))
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .error("NoEnrolledPrints"))
            #expect(try client.call("EnrollStart", "right-index-finger") == .done)
            try client.wait(for: "finger-needed true")
            // It is compared first, although there is nothing that it could match: so many scans
            // were announced.
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "EnrollStatus enroll-stage-passed false")
            for _ in 0..<5 { try fixture.daemon.storage.send(.scan("one")) }
            try client.wait(for: "EnrollStatus enroll-completed true")
            let stages = try client.signals().filter {
                $0 == "EnrollStatus enroll-stage-passed false"
            }
            #expect(stages.count == 5)
            #expect(try client.call("EnrollStart", "left-thumb") == .error("AlreadyInUse"))
            #expect(try client.call("EnrollStop") == .done)
            #expect(try list() == .values([.array(of: "s", [.string("right-index-finger")])]))
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
            #expect(
                try client.call("DeleteEnrolledFinger", "left-thumb") == .error("NoEnrolledPrints"))
            #expect(try client.call("DeleteEnrolledFinger", "right-index-finger") == .done)
            #expect(try list() == .error("NoEnrolledPrints"))
            #expect(try client.call("DeleteEnrolledFingers2") == .error("NoEnrolledPrints"))
            #expect(try client.call("Release") == .done)
            try fixture.daemon.enrol(.daemon, as: "one")
            #expect(try client.call("DeleteEnrolledFingers", Self.user) == .done)
            #expect(try list() == .error("NoEnrolledPrints"))
        }

        @Test("stopping and releasing end a scan, and the claimer is told first")
        func stop() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            #expect(try client.call("EnrollStop") == .error("AlreadyInUse"))
            #expect(try client.call("VerifyStop") == .done)
            #expect(try client.signals().contains("VerifyStatus verify-no-match true"))
            #expect(try client.call("EnrollStart", "left-thumb") == .done)
            #expect(try client.call("Release") == .done)
            #expect(try client.signals().contains("EnrollStatus enroll-failed true"))
            #expect(try fixture.daemon.settledFailures() == 0)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("a client that leaves ends its claim and its scan")
        func vanished() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try other.wait(for: "finger-needed true")
            try client.leave()
            try other.wait(for: "finger-needed false")
            #expect(try other.call("Claim", Self.user) == .done)
            try other.forget()
            #expect(try other.call("VerifyStart", "any") == .done)
            try other.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.scan("one"))
            try other.wait(for: "VerifyStatus verify-match true")
        }

        @Test("a claim that is not used ends after a minute")
        func unused() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            #expect(try client.call("Claim", Self.user) == .done)
            try fixture.daemon.passTime(59)
            #expect(try other.call("Claim", Self.user) == .error("AlreadyInUse"))
            try fixture.daemon.passTime(2)
            #expect(try client.call("VerifyStart", "any") == .error("ClaimDevice"))
            #expect(try other.call("Claim", Self.user) == .done)
            #expect(try client.call("Release") == .error("AlreadyInUse"))
        }

        @Test("a claim whose calls are refused ends after a minute all the same")
        func refusedUse() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            #expect(try client.call("Claim", Self.user) == .done)
            try fixture.desktop.polkit.set(PlayedPolkit.verify, .no)
            try fixture.desktop.polkit.set(PlayedPolkit.enroll, .no)
            try fixture.daemon.passTime(59)
            #expect(try client.call("VerifyStart", "any") == .error("PermissionDenied"))
            #expect(try client.call("EnrollStart", "left-thumb") == .error("PermissionDenied"))
            #expect(try client.call("DeleteEnrolledFingers2") == .error("PermissionDenied"))
            try fixture.daemon.passTime(2)
            #expect(try client.call("VerifyStart", "any") == .error("ClaimDevice"))
            try fixture.desktop.polkit.set(PlayedPolkit.verify, .yes)
            #expect(try other.call("Claim", Self.user) == .done)
        }

        @Test(
            "a deletion ends with its client: polkit asks no more, and nothing is deleted",
            arguments: ["DeleteEnrolledFingers2", "DeleteEnrolledFingers"], [true, false])
        func leftDeletion(member: String, leaves: Bool) throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let isClaimed = member == "DeleteEnrolledFingers2" || !leaves
            if isClaimed { #expect(try client.call("Claim", Self.user) == .done) }
            try fixture.desktop.polkit.set(PlayedPolkit.enroll, .silent)
            let before = try fixture.desktop.polkit.heard().count
            let deletion = try client.begin(
                member, member == "DeleteEnrolledFingers" ? Self.user : nil)
            try fixture.desktop.polkit.awaitChecks(before + 1)
            if leaves { try client.leave() } else { #expect(try client.call("Release") == .done) }
            try fixture.desktop.polkit.awaitCancellation()
            if !leaves { #expect(try deletion.outcome() == .error("PrintsNotDeleted")) }
            try fixture.desktop.polkit.proceed()
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("a login gets the reader at once, and the claimer is told")
        func login() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            let login = try fixture.daemon.begin()
            try client.wait(for: "VerifyStatus verify-no-match true")
            // As lockers do, which stop asking after any other result.
            #expect(try client.call("VerifyStop") == .done)
            try client.forget()
            #expect(try client.call("VerifyStart", "any") == .done)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try fixture.daemon.conclude(login).assertion != nil)
            try client.wait(for: "finger-needed true")
            #expect(try client.signals().filter { $0.hasPrefix("VerifyStatus") }.isEmpty)
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "VerifyStatus verify-match true")
            #expect(try fixture.daemon.settledFailures() == 0)
        }

        /// Verifies until the reader has rested twice.
        private func outlast(_ client: DesktopBusClient) throws {
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            for _ in 0..<2 {
                try client.wait(for: "finger-needed true")
                try client.wait(for: "finger-needed false")
                try client.forget()
            }
        }

        /// Touches the reader each time it waits for a finger, until the client has this result: where
        /// the time for a finger is short, it may be over before the reader hears of it.
        private func touch(
            _ fixture: InterfaceFixture, as finger: String, until result: String,
            _ client: DesktopBusClient
        ) throws {
            repeat {
                try client.wait(for: "finger-needed true")
                try client.forget()
                try fixture.daemon.storage.send(.scan(finger))
                try client.wait(for: "finger-needed false")
            } while try !client.signals().contains(result)
        }

        @Test("a verification outlasts the time for a finger, and lets the reader rest in between")
        func outlasts() throws {
            let fixture = try InterfaceFixture(configuration: "[touch]\ntimeout = 1s\n")
            let client = try fixture.client()
            try outlast(client)
            try touch(fixture, as: "one", until: "VerifyStatus verify-match true", client)
            #expect(
                try client.signals().filter { $0.hasPrefix("Verify") } == [
                    "VerifyStatus verify-match true"
                ])
            #expect(try fixture.daemon.settledFailures() == 0)
        }

        @Test("a screen that is locked for long leaves no line in journal and account's log")
        func quiet() throws {
            let fixture = try InterfaceFixture(configuration: "[touch]\ntimeout = 1s\n")
            let client = try fixture.client()
            try outlast(client)
            #expect(try client.call("VerifyStop") == .done)
            try client.forget()
            #expect(try client.call("VerifyStart", "any") == .done)
            // A finger that is refused has both.
            try touch(
                fixture, as: "stranger", until: "VerifyStatus verify-no-match true", client)
            try fixture.daemon.program.expectError("desktopVerify for daemon")
            let lines = fixture.daemon.program.errors.split(separator: "\n").filter {
                $0.contains("desktopVerify")
            }
            #expect(lines.count == 1 && lines[0].contains("deny (noMatch)"), "\(lines)")
            let refusals = try fixture.daemon.receipts(of: .daemon).refusals
            #expect(refusals.map(\.reason) == [.noMatch])
            #expect(refusals.map(\.count) == [1])
        }

        @Test("a verification is stopped while the reader rests")
        func stopsResting() throws {
            let fixture = try InterfaceFixture(
                configuration: "[touch]\ntimeout = 1s\n", rest: "60000")
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            for end in ["VerifyStop", "Release"] {
                #expect(try client.call("VerifyStart", "any") == .done)
                try client.wait(for: "finger-needed true")
                try client.wait(for: "finger-needed false")
                #expect(try client.call(end) == .done)
                #expect(try client.signals().last == "VerifyStatus verify-no-match true")
                try client.forget()
            }
            #expect(try client.call("Claim", Self.user) == .done)
        }

        @Test("a deletion that does not reach the reader has an error of its own")
        func leftOnReader() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            let reader = fixture.daemon.storage
            try fixture.daemon.obstruct(reader)
            #expect(
                try client.call("DeleteEnrolledFinger", "right-index-finger")
                    == .error("PrintsNotDeletedFromDevice"))
            // It is gone nevertheless, and what is left is deleted when the reader can be reached.
            #expect(
                try client.call("ListEnrolledFingers", Self.user, answer: "(as)")
                    == .error("NoEnrolledPrints"))
            #expect(try client.call("DeleteEnrolledFingers2") == .error("NoEnrolledPrints"))
            try #require(unsafe rmdir(reader.path) == 0)
            #expect(try fixture.daemon.enrol(.daemon, .leftThumb, as: "two").done?.prints == 1)
            #expect(try fixture.daemon.stored() == ["two"])
            #expect(try client.call("DeleteEnrolledFinger", "left-thumb") == .done)
            #expect(try fixture.daemon.stored().isEmpty)
        }

        @Test("polkit's refusal is a permission that is denied, and a slow one holds up nobody")
        func polkit() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            let polkit = fixture.desktop.polkit
            try polkit.set(PlayedPolkit.setUserName, .no)
            #expect(try client.call("Claim", Self.user) == .error("PermissionDenied"))
            try polkit.set(PlayedPolkit.setUserName, .silent)
            let slow = try client.begin("Claim", Self.user)
            try polkit.awaitChecks(2)
            #expect(try other.call("Claim", "root") == .done)
            try polkit.proceed()
            #expect(try slow.outcome() == .error("AlreadyInUse"))
            try polkit.set(PlayedPolkit.setUserName, .yes)
            #expect(try other.call("Release") == .done)
            #expect(try client.call("Claim", Self.user) == .done)
            try polkit.set(PlayedPolkit.verify, .no)
            #expect(try client.call("VerifyStart", "any") == .error("PermissionDenied"))
            try polkit.set(PlayedPolkit.enroll, .no)
            #expect(try client.call("EnrollStart", "left-thumb") == .error("PermissionDenied"))
            #expect(
                try client.call("DeleteEnrolledFinger", "right-index-finger")
                    == .error("PermissionDenied"))
            #expect(try client.call("DeleteEnrolledFingers2") == .error("PermissionDenied"))
            #expect(try client.call("Release") == .done)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("a flood of calls of one user is refused, and that user's alone")
        func flood() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            var outcomes: [Outcome] = []
            for _ in 0..<60 { outcomes.append(try client.call("Claim", "nobody-of-this-name")) }
            #expect(outcomes.first == .done)
            #expect(outcomes.contains(.error("LimitsExceeded")))
            // What only ends something is always possible.
            #expect(try client.call("Release") == .done)
            let games = try TestSupport.Program(
                Command([
                    "setpriv", "--reuid", "5", "--regid", "5", "--clear-groups", "gdbus", "call",
                    "--address", "unix:path=\(fixture.desktop.bus.socket)", "--dest",
                    DesktopBusClient.name, "--object-path", "/net/reactivated/Fprint/Manager",
                    "--method", "net.reactivated.Fprint.Manager.GetDefaultDevice",
                ]))
            #expect(try games.expectEnd().output.contains(DesktopBusClient.device))
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a daemon that is gone is an error, and its return is noticed")
        func noDaemon() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.restart {
                try client.wait(for: "VerifyStatus verify-unknown-error true")
                #expect(try client.call("VerifyStop") == .done)
                #expect(try client.call("VerifyStart", "any") == .error("Internal"))
            }
            #expect(try client.call("VerifyStart", "any") == .done)
        }

        @Test("ends when it has had no client for a while, and not before")
        func idle() throws {
            let fixture = try InterfaceFixture(idle: "300")
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            #expect(fixture.program.ended == nil)
            #expect(try client.call("Release") == .done)
            #expect(try fixture.program.expectEnd().succeeded)
        }
    }
}
