// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("fingers that change behind the daemon's back") struct InvalidationTests {
        private static let name = Person.daemon.account

        /// Alters the state of an account with two fingers while no daemon runs.
        private func changed(
            _ cause: InvalidationCause, surviving: Bool = true,
            _ change: (DaemonFixture) throws -> Void
        ) throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "one")
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try change(fixture)
            try fixture.restart()
            let denied = try #require(try fixture.ask(.login(.daemon)).denial)
            #expect(denied.reason == .invalidated && denied.cause == cause)
            #expect(try fixture.ask(.login(.daemon)).denial?.cause == cause, "it is remembered")
            let status = try fixture.status(of: .daemon)
            #expect(status.state == .invalidated && status.cause == cause && status.since != nil)
            let keys = Layout.entries(of: fixture.state + "/keys")
            #expect(
                keys.contains("1.off") && !keys.contains("1.pub"),
                "the old key is no longer accepted")
            guard surviving else { return }
            // A finger that is added or deleted vouches for no other.
            let added = try fixture.enrol(.daemon, .leftThumb, as: "one")
            #expect(added.done?.state == .invalidated)
            if cause == .printDamaged {
                let refused = try #require(try fixture.ask(.enable(account: Self.name)).denial)
                #expect(refused.reason == .printsDamaged, "nothing drops a finger unsaid")
                try #require(refused.finger != nil)
                _ = try fixture.ask(.delete(account: Self.name, finger: refused.finger))
            }
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a print that was removed")
        func removed() throws {
            try changed(.printDamaged) { fixture in
                _ = unsafe unlink(try #require(fixture.prints(of: .daemon).first))
            }
        }

        @Test("a print that was altered by one bit")
        func altered() throws {
            try changed(.printDamaged) { fixture in
                try DaemonFixture.damage(try #require(fixture.prints(of: .daemon).first))
            }
        }

        @Test("a print that was added, with the seal of this machine")
        func added() throws {
            try changed(.fingerAdded) { fixture in
                let kept = try fixture.kept(.daemon)
                var template = try #require(try kept.prints.enrolment().prints.first).template
                _ = try kept.prints.add(
                    &template, finger: .leftRing, reader: Bytes("virtual_device:0".utf8),
                    now: kept.created())
            }
        }

        @Test("a print that was taken off the list")
        func unlisted() throws {
            try changed(.fingerRemoved) { fixture in
                let kept = try fixture.kept(.daemon)
                try kept.prints.remove(
                    try #require(kept.prints.enrolment().prints.first).identifier)
            }
        }

        @Test("another account's print in the place of one's own")
        func swapped() throws {
            try changed(.printDamaged) { fixture in
                try fixture.enrol(.bin, as: "three")
                let theirs = try #require(fixture.prints(of: .bin).first)
                let ours = try #require(fixture.prints(of: .daemon).first)
                try DaemonFixture.write(try Layout.read(theirs), to: ours)
            }
        }

        @Test("a credential whose record cannot be read")
        func record() throws {
            try changed(.credentialDamaged) { fixture in
                let path = fixture.file("credential", of: .daemon)
                try DaemonFixture.write(try Layout.read(path) + [0x0a], to: path)
            }
        }

        @Test("a sealed key that was altered by one letter: a touch finds that it does not open")
        func sealed() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            let path = fixture.file("credential", of: .daemon)
            var bytes = try Layout.read(path)
            let letter = bytes.count - 20
            bytes[letter] = bytes[letter] == 0x41 ? 0x42 : 0x41
            try DaemonFixture.write(bytes, to: path)
            let denied = try #require(try fixture.login(.daemon, with: "one").denial)
            #expect(denied.reason == .invalidated && denied.cause == .credentialDamaged)
            #expect(try fixture.failures(of: .daemon) == 0, "the finger did not fail")
            #expect(try fixture.status(of: .daemon).state == .invalidated)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }

        @Test("the machine's secret was replaced: nothing opens")
        func hostSecret() throws {
            try changed(.hostSecretChanged, surviving: false) { fixture in
                let path = fixture.state + "/private/host-secret"
                let secret = try Layout.read(path)
                try DaemonFixture.write(secret.map { $0 ^ 1 }, to: path)
            }
        }

        @Test("a file that is not a print of the account is ignored, and login keeps working")
        func foreign() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two")
            let before = fixture.prints(of: .daemon)
            let copies = try before.map { try Layout.read($0) }
            let deleting = try fixture.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(deleting.done?.prints == 1)
            for (path, copy) in zip(before, copies) { try DaemonFixture.write(copy, to: path) }
            let deleted = try fixture.touchEach(.login(.daemon, tries: 1), with: "two")
            #expect(deleted.reason == .noMatch)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.restart()
            #expect(try fixture.status(of: .daemon).prints == 1)
            #expect(fixture.prints(of: .daemon).count == 1, "it was removed at the next start")
        }

        @Test("an old state of all files, played back, gives no old generation's key a use")
        func publicKeyGone() throws {
            let fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            _ = unsafe unlink(fixture.publicKey(of: .daemon))
            #expect(try fixture.ask(.login(.daemon)).reason == .notEnabled)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
        }
    }
}
