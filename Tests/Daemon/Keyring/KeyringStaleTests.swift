// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the login password for the keyring: when it is of no use") struct KeyringStaleTests {
        private static let login = Request.login(.daemon, service: "login", wantsKeyring: true)
        private static let name = Person.daemon.account

        private func fixture() throws -> DaemonFixture {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, as: "one")
            try fixture.give()
            return fixture
        }

        @Test(
            "a password that was changed in any way is dropped and reported once; the touch still works",
            arguments: [("$6$salt$new", 20_000), ("$6$salt$old", 20_001), ("!$6$salt$old", 20_000)])
        func changed(hash: String, day: Int) throws {
            let fixture = try fixture()
            try fixture.changeShadow(hash: hash, day: day)
            let first = try fixture.client()
            #expect(try fixture.opened(by: Self.login, client: first) == nil)
            #expect(first.heard.filter { $0.notice?.kind == .passwordStale }.count == 1)
            let second = try fixture.client()
            #expect(try fixture.opened(by: Self.login, client: second) == nil)
            #expect(!second.heard.contains { $0.notice?.kind == .passwordStale })
            #expect(try fixture.keyring() == .passwordChanged)
            // Nor does it come back with the old hash.
            try fixture.changeShadow(hash: "$6$salt$old")
            #expect(try fixture.opened(by: Self.login) == nil)
            #expect(try fixture.checks() == 1, "it was not tried")
        }

        @Test("after a change of fingers without the password, no other change stores one unasked")
        func changedBoth() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            try fixture.give()
            try fixture.changeShadow()
            let delete = Request.delete(account: Self.name, finger: .leftIndex)
            #expect(try fixture.ask(delete).done?.keyring == .fingersChanged)
            _ = try fixture.report("right again")
            #expect(try fixture.keyring() == .fingersChanged)
        }

        @Test("a move to another vault drops it, and takes along none that is of use no more")
        func moved() throws {
            let fixture = try fixture()
            try fixture.changeShadow()
            let move = Request.migrate(account: Self.name, vault: Bytes("file".utf8))
            #expect(try fixture.ask(move).done?.state == .valid)
            #expect(try fixture.keyring() == .passwordChanged)
            try fixture.changeShadow(hash: "$6$salt$old")
            #expect(try fixture.keyring() == .passwordChanged, "its record is gone")
            #expect(try fixture.opened(by: Self.login) == nil)
        }

        @Test("while a finger is awaited, too")
        func changedMeanwhile() throws {
            let fixture = try fixture()
            let client = try fixture.client()
            try client.send(Self.login)
            try client.wait(for: .touch)
            try fixture.changeShadow()
            try fixture.storage.send(.scan("one"))
            _ = try #require(try client.last().assertion)
            #expect(try client.confirmedPassword() == nil)
        }

        @Test("one that is stored while a finger is awaited is given to the next login, and stays")
        func keptMeanwhile() throws {
            let fixture = try fixture()
            // Changed before the login and known to be: then nothing was got ready for it.
            for isStale in [false, true] {
                if isStale {
                    try fixture.changeShadow(hash: "$6$salt$third")
                    #expect(try fixture.keyring() == .passwordChanged)
                }
                let client = try fixture.client()
                try client.send(Self.login)
                try client.wait(for: .touch)
                if !isStale { try fixture.changeShadow() }
                #expect(try fixture.report("right again").done == DoneAnswer(keyring: .on))
                try fixture.storage.send(.scan("one"))
                _ = try #require(try client.last().assertion)
                #expect(try client.confirmedPassword() == nil)
                #expect(try fixture.keyring() == .on)
                #expect(try fixture.opened(by: Self.login) == "right again")
            }
        }

        @Test("a change through PAM keeps the new one if it is right, else none")
        func reported() throws {
            let fixture = try fixture()
            try fixture.changeShadow()
            #expect(try fixture.report("right again").done == DoneAnswer(keyring: .on))
            #expect(try fixture.opened(by: Self.login) == "right again")
            try fixture.changeShadow(hash: "$6$salt$third")
            #expect(try fixture.report("wrong").done == DoneAnswer(keyring: .passwordChanged))
            #expect(try fixture.opened(by: Self.login) == nil)
            // The account wanted it: the next change may keep it again.
            #expect(try fixture.report("right third").done == DoneAnswer(keyring: .on))
            #expect(try fixture.opened(by: Self.login) == "right third")
            try fixture.changeShadow()
            #expect(try fixture.report("crash").done == DoneAnswer(keyring: .passwordChanged))
        }

        @Test("a change through PAM keeps the new one also if the module has not waited for that")
        func hungUp() throws {
            let fixture = try fixture()
            try fixture.changeShadow()
            do {
                let module = try fixture.client(.root)
                try module.send(
                    .passwordChanged(
                        account: Self.name, service: "passwd",
                        password: Bytes("right again".utf8)))
            }
            let end = ContinuousClock.now + .patience
            while try fixture.keyring() != .on, ContinuousClock.now < end {}
            #expect(try fixture.opened(by: Self.login) == "right again")
        }

        @Test("a report changes nothing where nothing was changed, or nothing is kept")
        func idleReport() throws {
            let fixture = try fixture()
            #expect(try fixture.report("right other").done == DoneAnswer())
            #expect(try fixture.report("wrong").done == DoneAnswer())
            #expect(try fixture.opened(by: Self.login) == "right")
            _ = try fixture.ask(.enable(account: Self.name, keyring: false))
            try fixture.changeShadow()
            #expect(try fixture.report("right other").done == DoneAnswer())
            #expect(try fixture.keyring() == .off)
            #expect(try fixture.report("right", by: .daemon).reason == .notPermitted)
            #expect(try fixture.checks() == 1)
        }

        @Test("fingers that the account changes keep it, those that root changes drop it")
        func fingers() throws {
            let fixture = try fixture()
            let client = try fixture.client(.daemon)
            try client.send(.enroll(account: Self.name, finger: .leftThumb, readerID: nil))
            try #require(try client.isAskedPassword(of: Self.name))
            try client.send(.password(Bytes("right own".utf8)))
            let added = try fixture.scanEnrolment(client, as: "two", checking: true)
            #expect(added.done?.keyring == .on)
            #expect(try fixture.opened(by: Self.login, with: "two") == "right own")
            let deletion = Request.delete(account: Self.name, finger: .rightIndex)
            let deleted = try fixture.give("right", to: deletion, as: .daemon)
            #expect(deleted.done?.keyring == .on)
            #expect(try fixture.opened(by: Self.login, with: "two") == "right")
            let byRoot = try fixture.enrol(.daemon, .leftIndex, as: "three", checking: true)
            #expect(byRoot.done?.keyring == .fingersChanged && byRoot.done?.state == .valid)
            #expect(try fixture.opened(by: Self.login, with: "three") == nil)
            #expect(try fixture.keyring() == .fingersChanged)
        }

        @Test("fingers changed behind the daemon's back: kept again only with the password")
        func invalidated() throws {
            let fixture = try fixture()
            try fixture.enrol(.daemon, .leftIndex, as: "two", checking: true)
            try fixture.give()
            for path in fixture.prints(of: .daemon).prefix(1) {
                #expect(unsafe unlink(path) == 0)
            }
            #expect(try fixture.ask(Self.login).reason == .invalidated)
            #expect(try fixture.keyring() == .fingersChanged)
            // What is left is not sealed to: the user has to say what becomes of the finger.
            let refused = try #require(try fixture.ask(.enable(account: Self.name)).denial)
            #expect(refused.reason == .printsDamaged)
            let finger = try #require(refused.finger)
            #expect(try fixture.ask(.delete(account: Self.name, finger: finger)).done != nil)
            let byRoot = try fixture.ask(.enable(account: Self.name))
            #expect(byRoot.done?.keyring == .fingersChanged)
            let byItself = try fixture.give(to: .enable(account: Self.name), as: .daemon)
            #expect(byItself.done?.keyring == .on)
            #expect(try fixture.keyring() == .on)
        }

        @Test("swapped, altered, cut or older it does not open, and the credential is unaffected")
        func tampered() throws {
            let fixture = try fixture()
            try fixture.enrol(.bin, as: "two", checking: true)
            try fixture.give(of: .bin)
            let path = fixture.file("keyring", of: .daemon)
            let older = try Layout.read(path)
            _ = try fixture.give(to: .delete(account: Self.name, finger: nil), as: .daemon)
            try fixture.enrol(.daemon, as: "one", checking: true)
            try fixture.give()
            let good = try Layout.read(path)
            var altered = good
            altered[altered.count - 9] ^= 1
            let cases: [(Bytes, KeyringState)] = [
                (older, .fingersChanged), (altered, .damaged), (Bytes(good.dropLast(20)), .damaged),
                (try Layout.read(fixture.file("keyring", of: .bin)), .fingersChanged),
                (
                    Self.mixed(good, key: try Layout.read(fixture.file("keyring", of: .bin))),
                    .damaged
                ),
            ]
            for (record, state) in cases {
                try DaemonFixture.write(record, to: path)
                #expect(try fixture.opened(by: Self.login) == nil)
                #expect(try fixture.keyring() == state)
            }
            try DaemonFixture.write(good, to: path)
            #expect(try fixture.opened(by: Self.login) == "right")
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

        private func fixture() throws -> DaemonFixture {
            // The machine's own `daemon` has no password: as an account of a directory.
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            try fixture.give()
            return fixture
        }

        @Test("is checked before it is released, and dropped when the check failed once")
        func tried() throws {
            let fixture = try fixture()
            #expect(try fixture.opened(by: Self.login) == "right")
            #expect(try fixture.checks() == 2)
            try fixture.judgePasswords(81)
            #expect(try fixture.opened(by: Self.login) == nil)
            #expect(try fixture.opened(by: Self.login) == nil)
            #expect(try fixture.checks() == 3, "a stale one fails once")
            #expect(try fixture.keyring() == .passwordChanged)
        }

        @Test("stays where it cannot be tried, and does not go out")
        func untried() throws {
            let fixture = try fixture()
            try fixture.judgePasswords(1)
            #expect(try fixture.opened(by: Self.login) == nil)
            #expect(try fixture.keyring() == .on)
        }

        @Test("is replaced, or dropped, when its change is reported")
        func reported() throws {
            let fixture = try fixture()
            #expect(try fixture.report("right again").done == DoneAnswer(keyring: .on))
            #expect(try fixture.opened(by: Self.login) == "right again")
            #expect(try fixture.report("wrong").done == DoneAnswer(keyring: .passwordChanged))
            #expect(try fixture.opened(by: Self.login) == nil)
        }
    }
}
