// SPDX-License-Identifier: Apache-2.0
import Domain
import Glibc
import Posix
import SignedFormats
import State
import TestSupport
import Testing

@Suite("an account's life")
struct AccountLifeTests {
    private let fixture: StateFixture
    /// The day of `StateFixture.now`.
    private static let today = Int(StateFixture.now.seconds / 86_400)
    private static let hash = "$6$salt$hash"

    init() throws { fixture = try StateFixture() }

    private static func seen(
        _ hash: String? = hash, changed: Int = today - 100, home: HomeMark? = home()
    ) throws -> AccountEvidence {
        let field: AccountEvidence.PasswordField =
            try hash.map {
                .entry(
                    ShadowEntry(
                        hash: try unsafe SecretBytes(copying: Array($0.utf8).span.bytes),
                        changed: changed))
            } ?? .none
        return AccountEvidence(field: field, home: home)
    }

    /// A home directory that was born so many days after the marks were taken, or before.
    private static func home(
        inode: UInt64 = 12, days: Int = -50, path: String = "/home/alice",
        on disk: String = "ext4 1 2"
    ) -> HomeMark {
        let seconds = Int(StateFixture.now.seconds) + days * 86_400
        return HomeMark(
            path: Array(path.utf8), filesystem: Array(disk.utf8), inode: inode,
            born: UInt64(seconds) * 1_000_000_000)
    }

    private func life(
        from before: AccountEvidence, to after: AccountEvidence
    ) throws -> AccountLife {
        try fixture.account.mark(before, now: StateFixture.now)
        return try fixture.account.life(seen: after)
    }

    @Test("goes on if nothing changed, and looking changes nothing")
    func same() throws {
        try fixture.account.mark(try Self.seen(), now: StateFixture.now)
        let before = try fixture.contents(fixture.file("life"))
        #expect(try fixture.account.life(seen: try Self.seen()) == .same)
        #expect(try fixture.contents(fixture.file("life")) == before)
    }

    @Test("has ended if another password is there, and not certainly the same home")
    func recreated() throws {
        let other = "$6$other$hash"
        for home in [
            nil, Self.home(inode: 13, days: 1), Self.home(path: "/srv/alice", on: "xfs 1 1"),
        ] {
            #expect(try life(from: Self.seen(), to: Self.seen(other, home: home)) == .replaced)
        }
        #expect(try life(from: Self.seen(home: nil), to: Self.seen(other)) == .replaced)
        // `useradd` without a password, and an account that a directory has now.
        #expect(try life(from: Self.seen(), to: Self.seen("!", home: nil)) == .replaced)
        #expect(try life(from: Self.seen(), to: Self.seen(nil, home: nil)) == .replaced)
        #expect(try life(from: Self.seen(nil), to: Self.seen(home: nil)) == .replaced)
        #expect(
            try life(from: Self.seen(), to: AccountEvidence(field: .unreadable, home: nil))
                == .replaced)
    }

    @Test("with another password in the same home, its password was replaced")
    func passwordReplaced() throws {
        let moved = Self.home(path: "/srv/alice")
        #expect(try life(from: Self.seen(), to: Self.seen("$6$b$")) == .passwordReplaced)
        #expect(
            try life(from: Self.seen(), to: Self.seen("$6$b$", home: moved)) == .passwordReplaced)
    }

    @Test("has ended if the password was set on the day on which another home was born")
    func sameHash() throws {
        let reborn = Self.home(inode: 13, days: 1)
        for day in [Self.today, Self.today + 1] {
            let after = try Self.seen(changed: day, home: reborn)
            #expect(try life(from: Self.seen(), to: after) == .replaced, "\(day)")
        }
        let before = try Self.seen(changed: Self.today + 1)
        #expect(
            try life(from: before, to: Self.seen(changed: Self.today + 1, home: reborn))
                == .replaced)
        // Without a password in shadow(5), the home is all there is.
        #expect(try life(from: Self.seen(nil), to: Self.seen(nil, home: reborn)) == .replaced)
    }

    @Test(
        "goes on after a home was moved, restored, mounted later or lost, and after chage and usermod -L"
    )
    func noFalseAlarm() throws {
        let homes: [HomeMark?] = [
            nil, Self.home(inode: 2, days: 3, path: "/srv/alice"), Self.home(inode: 13, days: 2),
            Self.home(inode: 2, days: 1, on: "ext4 3 4"), Self.home(inode: 2, days: -500),
        ]
        for home in homes {
            #expect(
                try life(from: Self.seen(), to: Self.seen(home: home)) == .same, "\(home as Any)")
            #expect(try life(from: Self.seen(home: nil), to: Self.seen(home: home)) == .same)
        }
        #expect(try life(from: Self.seen(), to: Self.seen(changed: 0)) == .same)
        // Accounts of a directory, whose home is on NFS or not there.
        #expect(try life(from: Self.seen(nil, home: nil), to: Self.seen(nil)) == .same)
        #expect(try life(from: Self.seen(nil), to: Self.seen(nil, home: nil)) == .same)
    }

    @Test("is unproven if the marks are missing, altered or another account's")
    func tampered() throws {
        let path = fixture.file("life")
        try fixture.account.mark(try Self.seen(), now: StateFixture.now)
        let good = try fixture.contents(path)
        let text = String(decoding: good, as: UTF8.self)
        for (part, other) in [
            ("inode: 12", "inode: 13"), ("/home/alice", "/home/other"), ("taken: 2", "taken: 1"),
        ] {
            try #require(text.contains(part))
            try fixture.overwrite(path, Array(text.replacing(part, with: other).utf8))
            #expect(try fixture.account.life(seen: try Self.seen()) == .replaced, "\(part)")
        }
        for bad in [[], Array(good.dropLast()), good + good] {
            try fixture.overwrite(path, bad)
            #expect(try fixture.account.life(seen: try Self.seen()) == .replaced)
        }
        let bob = try fixture.state.makeAccount("bob", uid: 1001, now: StateFixture.now)
        try fixture.overwrite(fixture.scratch.at("private/accounts/1001/life"), good)
        #expect(try bob.life(seen: try Self.seen()) == .replaced)
        #expect(unsafe unlink(path) == 0)
        #expect(try fixture.account.life(seen: try Self.seen()) == .replaced)
    }

    @Test("leaves no hash on disk, and two accounts with one password differ")
    func secrecy() throws {
        try fixture.account.mark(try Self.seen(), now: StateFixture.now)
        let first = String(decoding: try fixture.contents(fixture.file("life")), as: UTF8.self)
        try fixture.account.mark(try Self.seen(), now: StateFixture.now)
        let second = String(decoding: try fixture.contents(fixture.file("life")), as: UTF8.self)
        func digest(_ text: String) -> Substring? {
            text.split(separator: "\n").first { $0.hasPrefix("digest: ") }
        }
        #expect(!first.contains("salt"))
        #expect(digest(first) != nil && digest(first) != digest(second))
    }

    @Test("under another name goes on only when it is adopted; what was sealed still opens")
    func renamed() throws {
        let id = try fixture.add(1)
        try fixture.issue()
        let dora: AccountName = "dora"
        #expect(throws: StoreFault.anotherAccount(name: StateFixture.alice)) {
            try fixture.state.account(dora, uid: StateFixture.uid)
        }
        try fixture.account.adopted(by: dora, seen: try Self.seen(), now: StateFixture.now)
        let account = try #require(try fixture.state.account(dora, uid: StateFixture.uid))
        #expect(try account.life(seen: try Self.seen()) == .same)
        #expect(try account.prints.enrolment().prints.map(\.identifier) == [id])
        // The key in force names the former account, so it counts for nothing.
        #expect(try account.credential.state() == .none)
        let issued = try account.credential.issue(
            try account.prints.enrolment(), vault: fixture.vault, now: StateFixture.now)
        #expect(try account.credential.state() == .issued(issued))
        #expect(
            String(decoding: try fixture.contents(fixture.publicKey), as: UTF8.self).contains(
                "signet:dora:"))
        // And back again.
        try account.adopted(by: StateFixture.alice, seen: try Self.seen(), now: StateFixture.now)
        #expect(try fixture.state.account(StateFixture.alice, uid: StateFixture.uid) != nil)
        let text = String(decoding: try fixture.contents(fixture.file("account")), as: UTF8.self)
        #expect(!text.contains("sealed-name"))
    }
}
