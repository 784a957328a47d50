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
        private static let name = Person.daemon.bytes

        /// Alters the state of an account with two fingers while no daemon runs.
        private func changed(
            _ cause: InvalidationCause, surviving: Bool = true,
            _ change: (DaemonBench) throws -> Void
        ) throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, .rightIndex, as: "one")
            try bench.enrol(.daemon, .leftIndex, as: "one")
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try change(bench)
            try bench.restart()
            let denied = try #require(try bench.ask(.login(.daemon)).denial)
            #expect(denied.reason == .invalidated && denied.cause == cause)
            #expect(try bench.ask(.login(.daemon)).denial?.cause == cause, "it is remembered")
            let status = try bench.status(of: .daemon)
            #expect(status.state == .invalidated && status.cause == cause && status.since != nil)
            let keys = Layout.entries(of: bench.state + "/keys")
            #expect(keys.contains("1.off") && !keys.contains("1.pub"), "nobody accepts the old key")
            guard surviving else { return }
            // A finger that is added or deleted vouches for no other.
            let added = try bench.enrol(.daemon, .leftThumb, as: "one")
            #expect(added.done?.state == .invalidated)
            if cause == .printDamaged {
                let refused = try #require(try bench.ask(.enable(account: Self.name)).denial)
                #expect(refused.reason == .printsDamaged, "nothing drops a finger unsaid")
                try #require(refused.finger != nil)
                _ = try bench.ask(.delete(account: Self.name, finger: refused.finger))
            }
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("a print that was removed")
        func removed() throws {
            try changed(.printDamaged) { bench in
                _ = unsafe unlink(try #require(bench.prints(of: .daemon).first))
            }
        }

        @Test("a print that was altered by one bit")
        func altered() throws {
            try changed(.printDamaged) { bench in
                try DaemonBench.damage(try #require(bench.prints(of: .daemon).first))
            }
        }

        @Test("a print that was added, with the seal of this machine")
        func added() throws {
            try changed(.fingerAdded) { bench in
                let kept = try bench.kept(.daemon)
                var template = try #require(try kept.prints.enrolment().prints.first).template
                _ = try kept.prints.add(
                    &template, finger: .leftRing, reader: Bytes("virtual_device:0".utf8),
                    now: kept.created())
            }
        }

        @Test("a print that was taken off the list")
        func unlisted() throws {
            try changed(.fingerRemoved) { bench in
                let kept = try bench.kept(.daemon)
                try kept.prints.remove(
                    try #require(kept.prints.enrolment().prints.first).identifier)
            }
        }

        @Test("another account's print in the place of one's own")
        func swapped() throws {
            try changed(.printDamaged) { bench in
                try bench.enrol(.bin, as: "three")
                let theirs = try #require(bench.prints(of: .bin).first)
                let ours = try #require(bench.prints(of: .daemon).first)
                try DaemonBench.write(try Layout.read(theirs), to: ours)
            }
        }

        @Test("a credential whose record is no record any more")
        func record() throws {
            try changed(.credentialDamaged) { bench in
                let path = bench.file("credential", of: .daemon)
                try DaemonBench.write(try Layout.read(path) + [0x0a], to: path)
            }
        }

        @Test("a sealed key that was altered by one letter: a touch finds that it does not open")
        func sealed() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            let path = bench.file("credential", of: .daemon)
            var bytes = try Layout.read(path)
            let letter = bytes.count - 20
            bytes[letter] = bytes[letter] == 0x41 ? 0x42 : 0x41
            try DaemonBench.write(bytes, to: path)
            let denied = try #require(try bench.login(.daemon, with: "one").denial)
            #expect(denied.reason == .invalidated && denied.cause == .credentialDamaged)
            #expect(try bench.failures(of: .daemon) == 0, "the finger did not fail")
            #expect(try bench.status(of: .daemon).state == .invalidated)
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }

        @Test("the machine's secret became another: nothing opens any more")
        func hostSecret() throws {
            try changed(.hostSecretChanged, surviving: false) { bench in
                let path = bench.state + "/private/host-secret"
                let secret = try Layout.read(path)
                try DaemonBench.write(secret.map { $0 ^ 1 }, to: path)
            }
        }

        @Test("a file that is no print of the account's counts for nothing, and login goes on")
        func foreign() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, .rightIndex, as: "one")
            try bench.enrol(.daemon, .leftIndex, as: "two")
            let before = bench.prints(of: .daemon)
            let copies = try before.map { try Layout.read($0) }
            let deleting = try bench.ask(.delete(account: Self.name, finger: .leftIndex))
            #expect(deleting.done?.prints == 1)
            for (path, copy) in zip(before, copies) { try DaemonBench.write(copy, to: path) }
            let deleted = try bench.touchEach(.login(.daemon, tries: 1), with: "two")
            #expect(deleted.reason == .noMatch)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            try bench.restart()
            #expect(try bench.status(of: .daemon).prints == 1)
            #expect(bench.prints(of: .daemon).count == 1, "it was removed at the next start")
        }

        @Test("an old state of all files, played back, gives no old generation's key a use")
        func publicKeyGone() throws {
            let bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            _ = unsafe unlink(bench.publicKey(of: .daemon))
            #expect(try bench.ask(.login(.daemon)).reason == .notEnabled)
            #expect(try bench.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
        }
    }
}
