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
    private let bench: Bench
    private let print: String

    init() throws {
        bench = try Bench()
        print = "prints/" + hexadecimal(try bench.add(1))
        try bench.issue()
        try bench.keep([1, 2, 3], as: "mail", replacing: true)
    }

    /// The records that a touch depends on, by the part that they belong to.
    private var records: [(AccountPart, String)] {
        [
            (.prints, bench.file("account")), (.prints, bench.file(print)),
            (.credential, bench.file("credential")), (.credential, bench.file("signers")),
            (.credential, bench.publicKey), (.lockout, bench.file("lockout")),
        ]
    }

    @Test("holds as long as nothing is written, and looking changes nothing")
    func holds() throws {
        let stamp = try settled(Self.all)
        _ = try bench.account.prints.enrolment()
        _ = try bench.account.credential.state()
        _ = bench.account.lockout.load()
        #expect(bench.account.isUnchanged(since: stamp))
        #expect(try reopened().isUnchanged(since: stamp))
    }

    @Test("does not hold after a record was replaced by the same bytes")
    func replaced() throws {
        for (part, path) in records {
            let stamp = try settled(part)
            try bench.overwrite(path, try bench.contents(path))
            #expect(unsafe chmod(path, path == bench.publicKey ? 0o644 : 0o600) == 0)
            #expect(!bench.account.isUnchanged(since: stamp), "\(path)")
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
            #expect(!bench.account.isUnchanged(since: stamp), "\(path)")
        }
    }

    @Test("does not hold after a record was deleted, or one was added")
    func deleted() throws {
        for (part, path) in records {
            let stamp = try settled(part)
            let aside = path + ".aside"
            #expect(unsafe rename(path, aside) == 0)
            #expect(!bench.account.isUnchanged(since: stamp), "\(path)")
            // Put back, it is the same file, and the change time tells all the same.
            #expect(unsafe rename(aside, path) == 0)
            #expect(!bench.account.isUnchanged(since: stamp), "\(path)")
        }
        let stamp = try settled([.prints, .keyring])
        try bench.overwrite(bench.file("prints/\(String(repeating: "0", count: 32))"), [1])
        #expect(!bench.account.isUnchanged(since: stamp))
        let other = try settled(.keyring)
        try bench.overwrite(bench.file("keyring"), [1])
        #expect(!bench.account.isUnchanged(since: other))
    }

    @Test("does not hold after a directory was exchanged, even for a copy of hard links")
    func swapped() throws {
        for directory in [bench.file("prints"), bench.scratch.at("private/accounts/\(Bench.uid)")] {
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
        #expect(unsafe chmod(bench.file("account"), 0o644) == 0)
        #expect(!bench.account.isUnchanged(since: stamp))
        #expect(unsafe chmod(bench.file("account"), 0o600) == 0)
        #expect(!bench.account.isUnchanged(since: stamp))
        let other = try settled(.prints)
        #expect(unsafe chmod(bench.file("prints"), 0o755) == 0)
        #expect(!bench.account.isUnchanged(since: other))
    }

    @Test("what the store itself writes shows: fingers, credential, failures, secrets")
    func store() throws {
        let account = bench.account
        let changes: [(AccountPart, () throws -> Void)] = [
            (.lockout, { try account.lockout.save(Lockout()) }),
            (.secrets, { try bench.keep([1, 2, 3], as: "mail", replacing: true) }),
            (.prints, { try bench.add(2, .leftIndex) }),
            (.credential, { _ = try bench.issue() }),
            (.credential, { try account.credential.disable(now: Bench.now) }),
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
            try bench.account.lockout.save(Lockout())
            let stamp = try bench.account.stamp(.lockout)
            // The disk may have taken longer than a tick.
            guard !stamp.isSettled else { continue }
            #expect(!bench.account.isUnchanged(since: stamp))
            let later = try settled(.lockout)
            #expect(bench.account.isUnchanged(since: later))
            return
        }
    }

    @Test("costs a fraction of reading what it is about")
    func cost() throws {
        for (number, finger) in [Finger.leftIndex, .leftThumb, .rightThumb, .leftRing].enumerated()
        {
            try bench.add(UInt8(number + 2), finger)
        }
        try bench.issue()
        let parts: AccountPart = [.prints, .credential, .lockout]
        let stamp = try settled(parts)
        let clock = ContinuousClock()
        let reading = try clock.measure {
            for _ in 0..<200 {
                let account = try #require(
                    try bench.state.account(Bench.alice, uid: Bench.uid))
                _ = try account.credential.state(for: try account.prints.enrolment())
                _ = account.lockout.load()
            }
        }
        let checking = clock.measure {
            for _ in 0..<200 { #expect(bench.account.isUnchanged(since: stamp)) }
        }
        Swift.print("five fingers: read in \(reading / 200), checked in \(checking / 200)")
        #expect(checking < reading)
    }

    /// A stamp after the tick of the last change.
    private func settled(
        _ parts: AccountPart, of account: AccountState? = nil
    ) throws -> AccountStamp {
        let account = account ?? bench.account
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
        let state = try StateDirectory.open(bench.scratch.path)
        return try #require(try state.account(Bench.alice, uid: Bench.uid))
    }
}
