// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the login password for the keyring: when it is of no use") struct KeyringStaleTests {
        private static let login = Request.login(.daemon, service: "login", wantsKeyring: true)
        private static let name = Person.daemon.bytes

        private func bench() throws -> DaemonBench {
            let bench = try DaemonBench.withShadow()
            try bench.enrol(.daemon, as: "one")
            try bench.give()
            return bench
        }

        @Test(
            "a password changed by whatever way is dropped and told once; the touch still lets in",
            arguments: [("$6$salt$new", 20_000), ("$6$salt$old", 20_001), ("!$6$salt$old", 20_000)])
        func changed(hash: String, day: Int) throws {
            let bench = try bench()
            try bench.changeShadow(hash: hash, day: day)
            let first = try bench.client()
            #expect(try bench.opened(by: Self.login, client: first) == nil)
            #expect(first.heard.filter { $0.notice?.kind == .passwordStale }.count == 1)
            let second = try bench.client()
            #expect(try bench.opened(by: Self.login, client: second) == nil)
            #expect(!second.heard.contains { $0.notice?.kind == .passwordStale })
            #expect(try bench.keyring() == .passwordChanged)
            // Nor does it come back with the old hash.
            try bench.changeShadow(hash: "$6$salt$old")
            #expect(try bench.opened(by: Self.login) == nil)
            #expect(try bench.checks() == 1, "it was not tried")
        }

        @Test("while a finger is awaited, too")
        func changedMeanwhile() throws {
            let bench = try bench()
            let client = try bench.client()
            try client.send(Self.login)
            try client.wait(for: .touch)
            try bench.changeShadow()
            try bench.storage.send(.scan("one"))
            _ = try #require(try client.last().assertion)
            #expect(try client.confirmedPassword() == nil)
        }

        @Test("one that is kept while a finger is awaited goes to the next login, and stays")
        func keptMeanwhile() throws {
            let bench = try bench()
            // Changed before the login and known to be: then nothing was got ready for it.
            for isStale in [false, true] {
                if isStale {
                    try bench.changeShadow(hash: "$6$salt$third")
                    #expect(try bench.keyring() == .passwordChanged)
                }
                let client = try bench.client()
                try client.send(Self.login)
                try client.wait(for: .touch)
                if !isStale { try bench.changeShadow() }
                #expect(try bench.report("right again").done == DoneAnswer(keyring: .on))
                try bench.storage.send(.scan("one"))
                _ = try #require(try client.last().assertion)
                #expect(try client.confirmedPassword() == nil)
                #expect(try bench.keyring() == .on)
                #expect(try bench.opened(by: Self.login) == "right again")
            }
        }

        @Test("a change through PAM keeps the new one if it is right, else none")
        func reported() throws {
            let bench = try bench()
            try bench.changeShadow()
            #expect(try bench.report("right again").done == DoneAnswer(keyring: .on))
            #expect(try bench.opened(by: Self.login) == "right again")
            try bench.changeShadow(hash: "$6$salt$third")
            #expect(try bench.report("wrong").done == DoneAnswer(keyring: .passwordChanged))
            #expect(try bench.opened(by: Self.login) == nil)
            // The account wanted it: the next change may keep it again.
            #expect(try bench.report("right third").done == DoneAnswer(keyring: .on))
            #expect(try bench.opened(by: Self.login) == "right third")
            try bench.changeShadow()
            #expect(try bench.report("crash").done == DoneAnswer(keyring: .passwordChanged))
        }

        @Test("a report changes nothing where nothing was changed, or nothing is kept")
        func idleReport() throws {
            let bench = try bench()
            #expect(try bench.report("right other").done == DoneAnswer())
            #expect(try bench.report("wrong").done == DoneAnswer())
            #expect(try bench.opened(by: Self.login) == "right")
            _ = try bench.ask(.enable(account: Self.name, keyring: false))
            try bench.changeShadow()
            #expect(try bench.report("right other").done == DoneAnswer())
            #expect(try bench.keyring() == .off)
            #expect(try bench.report("right", by: .daemon).reason == .notPermitted)
            #expect(try bench.checks() == 1)
        }

        @Test("fingers that the account changes keep it, those that root changes drop it")
        func fingers() throws {
            let bench = try bench()
            let client = try bench.client(.daemon)
            try client.send(.enroll(account: Self.name, finger: .leftThumb, readerID: nil))
            try #require(try client.next() == .passwordWanted(account: Self.name))
            try client.send(.password(Bytes("right own".utf8)))
            let added = try bench.scanEnrolment(client, as: "two", checking: true)
            #expect(added.done?.keyring == .on)
            #expect(try bench.opened(by: Self.login, with: "two") == "right own")
            let deletion = Request.delete(account: Self.name, finger: .rightIndex)
            let deleted = try bench.give("right", to: deletion, as: .daemon)
            #expect(deleted.done?.keyring == .on)
            #expect(try bench.opened(by: Self.login, with: "two") == "right")
            let byRoot = try bench.enrol(.daemon, .leftIndex, as: "three", checking: true)
            #expect(byRoot.done?.keyring == .fingersChanged && byRoot.done?.state == .valid)
            #expect(try bench.opened(by: Self.login, with: "three") == nil)
            #expect(try bench.keyring() == .fingersChanged)
        }

        @Test("fingers changed behind the daemon's back: kept again only with the password")
        func invalidated() throws {
            let bench = try bench()
            try bench.enrol(.daemon, .leftIndex, as: "two", checking: true)
            try bench.give()
            for path in bench.prints(of: .daemon).prefix(1) {
                #expect(unsafe unlink(path) == 0)
            }
            #expect(try bench.ask(Self.login).reason == .invalidated)
            #expect(try bench.keyring() == .fingersChanged)
            // What is left is not sealed to: somebody has to say what becomes of the finger.
            let refused = try #require(try bench.ask(.enable(account: Self.name)).denial)
            #expect(refused.reason == .printsDamaged)
            let finger = try #require(refused.finger)
            #expect(try bench.ask(.delete(account: Self.name, finger: finger)).done != nil)
            let byRoot = try bench.ask(.enable(account: Self.name))
            #expect(byRoot.done?.keyring == .fingersChanged)
            let byItself = try bench.give(to: .enable(account: Self.name), as: .daemon)
            #expect(byItself.done?.keyring == .on)
            #expect(try bench.keyring() == .on)
        }

        @Test("swapped, altered, cut or older it does not open, and the credential is no worse")
        func tampered() throws {
            let bench = try bench()
            try bench.enrol(.bin, as: "two", checking: true)
            try bench.give(of: .bin)
            let path = bench.file("keyring", of: .daemon)
            let older = try Layout.read(path)
            _ = try bench.give(to: .delete(account: Self.name, finger: nil), as: .daemon)
            try bench.enrol(.daemon, as: "one", checking: true)
            try bench.give()
            let good = try Layout.read(path)
            var altered = good
            altered[altered.count - 9] ^= 1
            let cases: [(Bytes, KeyringState)] = [
                (older, .fingersChanged), (altered, .damaged), (Bytes(good.dropLast(20)), .damaged),
                (try Layout.read(bench.file("keyring", of: .bin)), .fingersChanged),
                (Self.mixed(good, key: try Layout.read(bench.file("keyring", of: .bin))), .damaged),
            ]
            for (record, state) in cases {
                try DaemonBench.write(record, to: path)
                #expect(try bench.opened(by: Self.login) == nil)
                #expect(try bench.keyring() == state)
            }
            try DaemonBench.write(good, to: path)
            #expect(try bench.opened(by: Self.login) == "right")
        }

        /// A record with another's sealed key in it.
        private static func mixed(_ record: Bytes, key other: Bytes) -> Bytes {
            func lines(_ record: Bytes) -> [Substring] {
                String(decoding: record, as: UTF8.self).split(
                    separator: "\n", omittingEmptySubsequences: false)
            }
            let key = lines(other).first { $0.hasPrefix("key: ") } ?? ""
            let mixed = lines(record).map { $0.hasPrefix("key: ") ? key : $0 }
            return Bytes(mixed.joined(separator: "\n").utf8)
        }
    }

    @Suite("the login password of an account that shadow(5) does not know")
    struct KeyringElsewhereTests {
        private static let login = Request.login(.daemon, service: "login", wantsKeyring: true)

        private func bench() throws -> DaemonBench {
            // The machine's own `daemon` has no password: as an account of a directory.
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            try bench.give()
            return bench
        }

        @Test("is tried before it goes out, and dropped when it failed once")
        func tried() throws {
            let bench = try bench()
            #expect(try bench.opened(by: Self.login) == "right")
            #expect(try bench.checks() == 2)
            try bench.judgePasswords(81)
            #expect(try bench.opened(by: Self.login) == nil)
            #expect(try bench.opened(by: Self.login) == nil)
            #expect(try bench.checks() == 3, "a stale one fails once")
            #expect(try bench.keyring() == .passwordChanged)
        }

        @Test("stays where it cannot be tried, and does not go out")
        func untried() throws {
            let bench = try bench()
            try bench.judgePasswords(1)
            #expect(try bench.opened(by: Self.login) == nil)
            #expect(try bench.keyring() == .on)
        }

        @Test("is kept anew, or dropped, when its change is reported")
        func reported() throws {
            let bench = try bench()
            #expect(try bench.report("right again").done == DoneAnswer(keyring: .on))
            #expect(try bench.opened(by: Self.login) == "right again")
            #expect(try bench.report("wrong").done == DoneAnswer(keyring: .passwordChanged))
            #expect(try bench.opened(by: Self.login) == nil)
        }
    }
}
