// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import DBus
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    /// What fprintd's own tests have shown to be different; see docs/contributor/FPRINTD-TEST.md.
    @Suite("signet-fprint, as fprintd's tests want it") struct DesktopSuiteTests {
        private static let user = Person.daemon.name

        @Test("tells when a finger is put on the reader and lifted, while it is awaited")
        func fingers() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.finger(true))
            try client.wait(for: "finger-present true")
            #expect(try client.property("finger-present") == .variant(.boolean(true)))
            try fixture.daemon.storage.send(.finger(false))
            try client.wait(for: "finger-present false")
            #expect(try client.property("finger-needed") == .variant(.boolean(true)))
            #expect(try client.call("VerifyStop") == .done)
            try client.wait(for: "finger-needed false")
        }

        @Test("an enrolled finger under another name is a duplicate, which is told at once")
        func duplicate() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("EnrollStart", "left-thumb") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "EnrollStatus enroll-duplicate true")
            #expect(try client.call("EnrollStop") == .done)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("that a finger belongs to another account is not told, nor when it was recognised")
        func otherAccount() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            #expect(try client.call("Claim", Person.games.name) == .done)
            #expect(try client.call("EnrollStart", "left-thumb") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "EnrollStatus enroll-stage-passed false")
            // It went on to the enrolment itself, in which the reader knows the print it stores.
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "EnrollStatus enroll-failed true")
            #expect(
                try client.signals().filter { $0.hasPrefix("EnrollStatus") }
                    == [
                        "EnrollStatus enroll-stage-passed false", "EnrollStatus enroll-failed true",
                    ])
            #expect(try fixture.daemon.status(of: .games).prints == 0)
        }

        @Test("on a reader that cannot tell fingers apart, one finger is asked for and no other")
        func firstFinger() throws {
            let fixture = try InterfaceFixture([.text], enrolled: false)
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "left", checking: false)
            try fixture.daemon.enrol(.daemon, .rightIndex, as: "right", checking: false)
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            let selected = try #require(
                try client.signals().first { $0.hasPrefix("VerifyFingerSelected") })
            let isLeft = selected == "VerifyFingerSelected left-index-finger"
            #expect(isLeft || selected == "VerifyFingerSelected right-index-finger")
            try fixture.daemon.text.send(.scan(isLeft ? "right" : "left"))
            try client.wait(for: "VerifyStatus verify-no-match true")
            #expect(try client.call("VerifyStop") == .done)
            try client.forget()
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.text.send(.scan(isLeft ? "left" : "right"))
            try client.wait(for: "VerifyStatus verify-match true")
        }

        @Test("a claimer's deletions are done one after the other, and each is answered")
        func deletions() throws {
            let fixture = try InterfaceFixture()
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two", checking: true)
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            try fixture.desktop.polkit.set(PlayedPolkit.enroll, .silent)
            let first = try client.begin("DeleteEnrolledFinger", "left-index-finger")
            let second = try client.begin("DeleteEnrolledFinger", "right-index-finger")
            try fixture.desktop.polkit.awaitChecks(2)
            try fixture.desktop.polkit.set(PlayedPolkit.enroll, .yes)
            try fixture.desktop.polkit.proceed()
            #expect(try first.outcome() == .done)
            #expect(try second.outcome() == .done)
            #expect(try fixture.daemon.status(of: .daemon).prints == 0)
            #expect(try client.call("VerifyStop") == .error("NoActionInProgress"))
        }

        @Test("sleep is delayed until scans have ended, and the claimer knows why")
        func sleep() throws {
            let fixture = try InterfaceFixture()
            let logind = try fixture.desktop.bus.startLogind()
            defer { logind.signal(SIGKILL) }
            try fixture.desktop.bus.awaitInhibitors(1)
            #expect(
                try fixture.desktop.bus.lastInhibitor().contains("signet-fprint"))
            let client = try fixture.client()
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.desktop.bus.awaitInhibitors(2)
            let sleep = try fixture.desktop.bus.sleep(lookingAt: fixture.daemon.storage.path)
            #expect(sleep.isInTime && !sleep.wasHeard)
            try client.wait(for: "VerifyStatus verify-unknown-error true")
            #expect(try client.call("VerifyStop") == .done)
            #expect(try client.call("EnrollStart", "left-thumb") == .done)
            try client.wait(for: "EnrollStatus enroll-unknown-error true")
            #expect(try client.call("EnrollStop") == .done)
            try fixture.desktop.bus.wake()
            try fixture.desktop.bus.awaitInhibitors(1)
            // A signal of another client than logind ends nothing.
            try client.forget()
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.desktop.bus.forge("PrepareForSleep", "boolean:true")
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "VerifyStatus verify-match true")
        }

        @Test("a reader that is gone stays until its claim ends, and the release says so")
        func gone() throws {
            let fixture = try InterfaceFixture()
            let client = try fixture.client()
            let (manager, device) = (
                "/net/reactivated/Fprint/Manager", BusValue.objectPath(DesktopBusClient.device)
            )
            func devices() throws -> DesktopBusClient.Outcome {
                try client.call("GetDevices", answer: "(ao)", of: "Manager", at: manager)
            }
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try DaemonFixture.write("", to: fixture.daemon.storage.unpluggedMark)
            try fixture.daemon.storage.send(.unplug)
            try client.wait(for: "VerifyStatus verify-disconnected true")
            #expect(
                try client.signals().filter { $0.hasPrefix("VerifyStatus") }
                    == ["VerifyStatus verify-disconnected true"])
            #expect(try devices() == .values([.array(of: "o", [device])]))
            #expect(try client.call("VerifyStart", "any") == .error("AlreadyInUse"))
            #expect(try client.call("Release") == .error("Internal"))
            #expect(try devices() == .values([.array(of: "o", [])]))
        }

        @Test("readers that are plugged in and unplugged are announced, and no one need ask")
        func plugging() throws {
            let fixture = try InterfaceFixture(usb: true)
            let client = try fixture.client()
            let nodes = fixture.daemon.directory + "/usb/001/"
            // The bus itself carries the devices of readers; virtual ones are found by the mark.
            try DaemonFixture.write("", to: fixture.daemon.storage.unpluggedMark)
            try fixture.daemon.killReaders()
            try DaemonFixture.write("", to: nodes + "004")
            try client.wait(for: "InterfacesRemoved \(DesktopBusClient.device)")
            unsafe unlink(fixture.daemon.storage.unpluggedMark)
            try fixture.daemon.killReaders()
            unsafe unlink(nodes + "004")
            // It comes back under another number.
            try client.wait(for: "InterfacesAdded /net/reactivated/Fprint/Device/1")
            #expect(
                try client.call(
                    "GetDefaultDevice", answer: "(o)", of: "Manager",
                    at: "/net/reactivated/Fprint/Manager")
                    == .values([.objectPath("/net/reactivated/Fprint/Device/1")]))
        }

        @Test("readers are announced again after the daemon was restarted")
        func pluggingAfterRestart() throws {
            let fixture = try InterfaceFixture(usb: true)
            let client = try fixture.client()
            try fixture.daemon.restart()
            #expect(
                try client.devices()
                    == .values([.array(of: "o", [.objectPath(DesktopBusClient.device)])]))
            try DaemonFixture.write("", to: fixture.daemon.storage.unpluggedMark)
            try fixture.daemon.killReaders()
            try DaemonFixture.write("", to: fixture.daemon.directory + "/usb/001/004")
            try client.wait(for: "InterfacesRemoved \(DesktopBusClient.device)")
            #expect(try client.devices() == .values([.array(of: "o", [])]))
        }

        @Test("while the daemon watches for readers, it is not asked for them at each call")
        func knownReaders() throws {
            let fixture = try InterfaceFixture(usb: true)
            let client = try fixture.client()
            let known = DesktopBusClient.Outcome.values([
                .array(of: "o", [.objectPath(DesktopBusClient.device)])
            ])
            #expect(try client.devices() == known)
            // A virtual reader goes without a change of the bus.
            try DaemonFixture.write("", to: fixture.daemon.storage.unpluggedMark)
            try fixture.daemon.killReaders()
            #expect(try client.devices() == known)
            try fixture.daemon.passTime(11)
            #expect(try client.devices() == .values([.array(of: "o", [])]))
        }

        @Test("ten thousand subscriptions of another client change nothing for the claimer")
        func subscribers() throws {
            let fixture = try InterfaceFixture()
            let (client, other) = (try fixture.client(), try fixture.client())
            try other.subscribe(10_000)
            #expect(try client.call("Claim", Self.user) == .done)
            #expect(try client.call("VerifyStart", "any") == .done)
            try client.wait(for: "finger-needed true")
            try fixture.daemon.storage.send(.scan("one"))
            try client.wait(for: "VerifyStatus verify-match true")
            #expect(try other.signals().allSatisfy { !$0.hasPrefix("Verify") })
        }
    }
}
