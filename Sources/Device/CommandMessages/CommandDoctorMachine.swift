// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// Findings about the machine around Signet, and about what the journal has.
extension Finding {
    /// Something was written later than now.
    package static func clockBehind(_ path: Bytes, by: Text) -> Finding {
        Finding(
            .clockBehind, path,
            "the clock is behind: \(path) was written on \(by), which is still to come",
            why: "receipts carry the time, and certificates are judged by it. Set the clock",
            mend: "timedatectl set-ntp true")
    }

    /// Nobody keeps the clock.
    package static let clockUnsynchronised = Finding(
        .clockUnsynchronised, [],
        "the clock is not synchronised",
        why: "receipts carry its time. Lockouts do not depend on it",
        mend: "timedatectl set-ntp true")

    /// The lid is closed.
    package static let lidClosed = Finding(
        .lidClosed, [],
        "the lid is closed",
        why: "nobody can touch a reader below it, so none is asked for there",
        mend: "cat /proc/acpi/button/lid/*/state")

    /// Secure Boot is off.
    package static let secureBootOff = Finding(
        .secureBootOff, [],
        "Secure Boot is off",
        why: """
            who starts another system on this machine can change this one. Keys in files are \
            then as safe as the disk is encrypted
            """,
        mend: "mokutil --sb-state")

    /// Swap is not encrypted.
    package static func swapPlain(_ path: Bytes) -> Finding {
        Finding(
            .swapPlain, path,
            "swap on \(path) seems not to be encrypted",
            why:
                "Signet's own secrets are locked in memory; what programs get from it may go there",
            mend: "swapon --show")
    }

    /// Logins are closed.
    package static func loginsClosed(_ path: Bytes) -> Finding {
        Finding(
            .loginsClosed, path,
            "\(path) is there: only root may log in",
            why: "neither finger nor password helps others until it is gone",
            mend: "cat \(Shell.word(path))")
    }

    /// The journal has alerts.
    package static func journalAlert(count: UInt64, newest: Bytes, at: Text) -> Finding {
        Finding(
            .journalAlert, Bytes("signetd".utf8),
            """
            alerts in the journal of the last week: \(number: count), the newest of \(at): \
            \(newest)
            """,
            why: "an alert is a proof that did not verify, or a file that somebody else wrote",
            mend: "journalctl -p alert -S -7d -g signet")
    }

    /// The journal is too slow, or too long.
    package static let journalUnread = Finding(
        .journalUnread, [],
        "the journal could not be read in time",
        why: "alerts of the last week may be in it",
        mend: "journalctl -p alert -S -7d -g signet")

    /// The journal has warnings.
    package static func journalFailures(count: UInt64, newest: Bytes, at: Text) -> Finding {
        Finding(
            .journalFailures, Bytes("signetd".utf8),
            """
            warnings in the journal of the last week: \(number: count), the newest of \(at): \
            \(newest)
            """,
            why: "they tell why logins were refused",
            mend: "journalctl -t signetd -p warning -S -7d")
    }
}
