// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about files, and about the public keys among them.
extension Finding {
    /// It belongs to somebody else.
    package static func fileOwner(_ path: Bytes, uid: UInt32) -> Finding {
        Finding(
            .fileOwner, path,
            "\(path) belongs to uid \(number: uid), not to root",
            why: "who owns it can exchange what logins depend on. What is not root's is refused",
            mend: "chown root:root \(Shell.word(path))")
    }

    /// Others may write to it.
    package static func fileWritable(_ path: Bytes, mode: Bytes, wanted: Bytes) -> Finding {
        Finding(
            .fileWritable, path,
            "\(path) has the mode \(mode): others than root may write to it",
            why: "who writes there decides who gets in. What others may write is refused",
            mend: "chmod \(wanted) \(Shell.word(path))")
    }

    /// The same about a public key: what somebody else may have written must not become trusted,
    /// so that it goes, and is issued anew.
    package func issuingAnew(_ account: Bytes) -> Finding {
        guard code == .fileOwner || code == .fileWritable else { return self }
        // Untranslated: a command
        let mend: Text = "rm -f \(Shell.word(subject)); \(Finding.lookThenEnable(account))"
        return Finding(code, subject, what, why: why, mend: mend)
    }

    /// The command that shows the fingers, and behind a `#` the one that makes a key for them: a
    /// stranger's finger is to be seen before.
    static func lookThenEnable(_ account: Bytes) -> Text {
        // Untranslated: a command
        """
        signet list --account \(Shell.word(account)) # signet enable --account \
        \(Shell.word(account))
        """
    }

    /// Others may read it.
    package static func fileExposed(_ path: Bytes, mode: Bytes, wanted: Bytes) -> Finding {
        Finding(
            .fileExposed, path,
            "\(path) has the mode \(mode): others than root may look into it",
            why: """
                it is, or holds, what is sealed or counted for accounts, and the daemon refuses \
                it like that
                """,
            mend: "chmod \(wanted) \(Shell.word(path))")
    }

    /// Others cannot read it.
    package static func fileUnreadable(_ path: Bytes, mode: Bytes, wanted: Bytes) -> Finding {
        Finding(
            .fileUnreadable, path,
            "\(path) has the mode \(mode): others than root cannot use it",
            why: "a screen locker runs as its user, and finds no key, socket or stack then",
            mend: "chmod \(wanted) \(Shell.word(path))")
    }

    /// It is not of the kind that it should be.
    package static func fileKind(_ path: Bytes) -> Finding {
        Finding(
            .fileKind, path,
            "\(path) is a symbolic link, or something else than it should be",
            why: "it is refused. See what put it there, and move it out of the way",
            mend: "mv -n \(Shell.word(path)) /root/")
    }

    /// It has several names.
    package static func fileLinked(_ path: Bytes) -> Finding {
        Finding(
            .fileLinked, path,
            "\(path) has more than one hard link",
            why: "it can be read or changed by another name, and is refused",
            mend: """
                cp -p \(Shell.word(path)) \(Shell.word(path + Bytes("~".utf8))) && \
                mv \(Shell.word(path + Bytes("~".utf8))) \(Shell.word(path))
                """)
    }

    /// The record of failed matches is missing.
    package static func fileMissing(_ path: Bytes, account: Bytes) -> Finding {
        Finding(
            .fileMissing, path,
            "\(path) is missing",
            why: "the finger of \(account) is kept out until the record is made anew",
            mend: "signet unlock --account \(Shell.word(account))")
    }

    /// The counter of receipts is missing.
    package static func counterMissing(_ path: Bytes, account: Bytes) -> Finding {
        Finding(
            .counterMissing, path,
            "\(path) is missing",
            why: """
                who took it away may have taken receipts too. The next touch goes on with a \
                number far behind the last receipt of \(account)
                """,
            mend: "signet log --verify --account \(Shell.word(account))")
    }

    /// Signet did not put it there.
    package static func fileForeign(_ path: Bytes) -> Finding {
        Finding(
            .fileForeign, path,
            "\(path) is nothing of Signet's",
            why: "somebody put it between the keys. See what it is, and move it away",
            mend: "mv -n \(Shell.word(path)) /root/")
    }

    /// A public key cannot be read.
    package static func keyDamaged(_ path: Bytes, account: Bytes) -> Finding {
        Finding(
            .keyDamaged, path,
            "\(path) is no public key as Signet writes one",
            why: "the module refuses every touch of \(account), with an alert in the journal",
            mend: lookThenEnable(account))
    }

    /// A public key names another account.
    package static func keyOfAnother(
        _ path: Bytes, names: Bytes, account: Bytes, uid: UInt32
    ) -> Finding {
        Finding(
            .keyOfAnother, path,
            "\(path) is the key of \(names), but uid \(number: uid) is \(account)",
            why: """
                the account was renamed, or its number was given to somebody else. The key \
                lets neither of them in. If it is another person, remove what was kept
                """,
            mend: "getent passwd \(number: uid); signet list --account \(Shell.word(account))")
    }

    /// A public key's account is gone.
    package static func keyOfNobody(_ path: Bytes, uid: UInt32) -> Finding {
        Finding(
            .keyOfNobody, path,
            "\(path) is the key of uid \(number: uid), which has no account",
            why: "who gets that number next inherits it, and is refused for it. Remove it",
            mend: """
                getent passwd \(number: uid) || find /var/lib/signet/keys \
                /var/lib/signet/private/accounts -maxdepth 1 '(' -name \(number: uid) -o -name \
                '\(number: uid).*' ')' -exec mv -n -t /root/ {} +
                """)
    }

    /// A change of a key was left half done.
    package static func keyHalfChanged(_ path: Bytes) -> Finding {
        Finding(
            .keyHalfChanged, path,
            "\(path) says that a key is being exchanged at this moment",
            why: "if nobody enrols or enables just now, a crash left it. The daemon clears it up",
            mend: "systemctl restart signetd")
    }

    /// A key is there and marked as destroyed.
    package static func keyAndMark(_ path: Bytes, account: Bytes) -> Finding {
        Finding(
            .keyAndMark, path,
            "\(path) says that a key was destroyed, and the key is there too",
            why: "one of them is not Signet's doing. Issue the key of \(account) anew",
            mend: lookThenEnable(account))
    }

    /// The state lies on a file system that keeps no owners, or is elsewhere.
    package static func stateFileSystem(_ path: Bytes, type: Bytes) -> Finding {
        Finding(
            .stateFileSystem, path,
            "\(path) lies on a file system of the type \(type)",
            why: """
                others than this machine's root may change what is there. Keys and counters \
                belong on a disk of this machine
                """,
            mend: "findmnt --target \(Shell.word(path))")
    }

    /// The state lies in memory.
    package static func stateVolatile(_ path: Bytes) -> Finding {
        Finding(
            .stateVolatile, path,
            "\(path) lies in memory",
            why: "fingers, keys and receipts are gone after the next start of the machine",
            mend: "findmnt --target \(Shell.word(path))")
    }

    /// There is no state yet.
    package static let stateNone = Finding(
        .stateNone, Bytes("/var/lib/signet".utf8),
        "/var/lib/signet is empty or not there",
        why: "the daemon makes it when it is first asked; until then nobody has a finger",
        mend: "signet enroll")

    /// The caller may not see all.
    package static let needsRoot = Finding(
        .needsRoot, [],
        """
        not looked at: what is kept in /var/lib/signet/private, other accounts, files that only \
        root may read
        """,
        why: "you are not root",
        mend: "sudo signet doctor")
}
