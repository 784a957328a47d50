// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import State
import TestSupport
import Testing

@Suite("the stamp of an account")
struct AccountStampTests {
    private static let all: AccountPart = [
        .prints, .credential, .lockout, .keyring, .secrets, .servers,
    ]
    private let fixture: StateFixture
    private let print: String

    init() throws {
        fixture = try StateFixture()
        print = "prints/" + hexadecimal(try fixture.add(1))
        try fixture.issue()
        try fixture.keep([1, 2, 3], as: "mail", replacing: true)
    }

    /// The records that a touch depends on, by the part that they belong to.
    private var records: [(AccountPart, String)] {
        [
            (.prints, fixture.file("account")), (.prints, fixture.file(print)),
            (.credential, fixture.file("credential")), (.credential, fixture.file("signers")),
            (.credential, fixture.publicKey), (.lockout, fixture.file("lockout")),
        ]
    }

    @Test("holds as long as nothing is written, and looking changes nothing")
    func holds() throws {
        let stamp = try settled(Self.all)
        _ = try fixture.account.prints.enrolment()
        _ = try fixture.account.credential.state()
        _ = fixture.account.lockout.load()
        #expect(fixture.account.isUnchanged(since: stamp))
        #expect(try reopened().isUnchanged(since: stamp))
    }

    @Test("does not hold after a record was replaced by an identical copy")
    func replaced() throws {
        for (part, path) in records {
            let stamp = try settled(part)
            try fixture.overwrite(path, try fixture.contents(path))
            #expect(unsafe chmod(path, path == fixture.publicKey ? 0o644 : 0o600) == 0)
            #expect(!fixture.account.isUnchanged(since: stamp), "\(path)")
        }
    }

    @Test("does not hold after a record was edited in place, with its size and time put back")
    func edited() throws {
        for (part, path) in records {
            let stamp = try settled(part)
            let status = try status(path)
            let file = unsafe open(path, O_WRONLY)
            #expect(unsafe pwrite(file, "x", 1, 0) == 1)
            close(file)
            let times = [status.st_atim, status.st_mtim]
            #expect(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
            let after = try self.status(path)
            #expect(after.st_ino == status.st_ino && after.st_size == status.st_size)
            #expect(after.st_mtim.tv_nsec == status.st_mtim.tv_nsec)
            #expect(!fixture.account.isUnchanged(since: stamp), "\(path)")
        }
    }

    @Test("does not hold after a record was deleted, or one was added")
    func deleted() throws {
        for (part, path) in records {
            let stamp = try settled(part)
            let aside = path + ".aside"
            #expect(unsafe rename(path, aside) == 0)
            #expect(!fixture.account.isUnchanged(since: stamp), "\(path)")
            // Put back, it is the same file, and the change time tells all the same.
            #expect(unsafe rename(aside, path) == 0)
            #expect(!fixture.account.isUnchanged(since: stamp), "\(path)")
        }
        let stamp = try settled([.prints, .keyring])
        try fixture.overwrite(fixture.file("prints/\(String(repeating: "0", count: 32))"), [1])
        #expect(!fixture.account.isUnchanged(since: stamp))
        let other = try settled(.keyring)
        try fixture.overwrite(fixture.file("keyring"), [1])
        #expect(!fixture.account.isUnchanged(since: other))
    }

    @Test("does not hold after a directory was exchanged, even for a copy of hard links")
    func swapped() throws {
        for directory in [
            fixture.file("prints"), fixture.scratch.at("private/accounts/\(StateFixture.uid)"),
        ] {
            let account = try reopened()
            let stamp = try settled(Self.all, of: account)
            #expect(unsafe rename(directory, directory + ".aside") == 0)
            #expect(!account.isUnchanged(since: stamp))
            #expect(unsafe mkdir(directory, 0o700) == 0)
            #expect(!account.isUnchanged(since: stamp))
            #expect(throws: StoreFault.changedMeanwhile) { try account.stamp(.lockout) }
            #expect(unsafe rmdir(directory) == 0)
            #expect(unsafe rename(directory + ".aside", directory) == 0)
        }
    }

    @Test("does not hold after permissions were changed, and changed back")
    func permissions() throws {
        let stamp = try settled(.prints)
        #expect(unsafe chmod(fixture.file("account"), 0o644) == 0)
        #expect(!fixture.account.isUnchanged(since: stamp))
        #expect(unsafe chmod(fixture.file("account"), 0o600) == 0)
        #expect(!fixture.account.isUnchanged(since: stamp))
        let other = try settled(.prints)
        #expect(unsafe chmod(fixture.file("prints"), 0o755) == 0)
        #expect(!fixture.account.isUnchanged(since: other))
    }

    @Test("what the store itself writes shows: fingers, credential, failures, secrets")
    func store() throws {
        let account = fixture.account
        let changes: [(AccountPart, () throws -> Void)] = [
            (.lockout, { try account.lockout.save(Lockout()) }),
            (.secrets, { try fixture.keep([1, 2, 3], as: "mail", replacing: true) }),
            (.prints, { try fixture.add(2, .leftIndex) }),
            (.credential, { _ = try fixture.issue() }),
            (.credential, { try account.credential.disable(now: StateFixture.now) }),
        ]
        for (part, change) in changes {
            let stamp = try settled(part)
            let others = try settled(Self.all.subtracting(part).subtracting(.credential))
            try change()
            #expect(!account.isUnchanged(since: stamp), "\(part)")
            #expect(account.isUnchanged(since: others), "\(part)")
        }
    }

    @Test("that was taken in the tick of a change never holds: a second change would not show")
    func racy() throws {
        for _ in 0..<100 {
            try fixture.account.lockout.save(Lockout())
            let stamp = try fixture.account.stamp(.lockout)
            // The disk may have taken longer than a tick.
            guard !stamp.isSettled else { continue }
            #expect(!fixture.account.isUnchanged(since: stamp))
            let later = try settled(.lockout)
            #expect(fixture.account.isUnchanged(since: later))
            return
        }
    }

    @Test("costs a fraction of reading what it is about")
    func cost() throws {
        for (number, finger) in [Finger.leftIndex, .leftThumb, .rightThumb, .leftRing].enumerated()
        {
            try fixture.add(UInt8(number + 2), finger)
        }
        try fixture.issue()
        let parts: AccountPart = [.prints, .credential, .lockout]
        let stamp = try settled(parts)
        let clock = ContinuousClock()
        let reading = try clock.measure {
            for _ in 0..<200 {
                let account = try #require(
                    try fixture.state.account(StateFixture.alice, uid: StateFixture.uid))
                _ = try account.credential.state(for: try account.prints.enrolment())
                _ = account.lockout.load()
            }
        }
        let checking = clock.measure {
            for _ in 0..<200 { #expect(fixture.account.isUnchanged(since: stamp)) }
        }
        Swift.print("five fingers: read in \(reading / 200), checked in \(checking / 200)")
        #expect(checking < reading)
    }

    /// A stamp after the tick of the last change.
    private func settled(
        _ parts: AccountPart, of account: AccountState? = nil
    ) throws -> AccountStamp {
        let account = account ?? fixture.account
        var stamp = try account.stamp(parts)
        while !stamp.isSettled { stamp = try account.stamp(parts) }
        return stamp
    }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        return status
    }

    private func reopened() throws -> AccountState {
        let state = try StateDirectory.open(fixture.scratch.path)
        return try #require(try state.account(StateFixture.alice, uid: StateFixture.uid))
    }
}
