// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginMessages
import LoginProtocol

/// Findings about accounts, readers and vaults, as the daemon tells of them.
extension Finding {
    /// The key does not fit the fingers.
    package static func credentialInvalid(_ account: Bytes, _ status: StatusAnswer) -> Finding {
        let cause: Text = status.cause?.text ?? "the fingers have changed"
        let what: Text =
            if let since = status.since {
                "fingerprint login is off for \(account) since \(Text.date(since)): \(cause)"
            } else {
                "fingerprint login is off for \(account): \(cause)"
            }
        return Finding(
            .credentialInvalid, account, what,
            why: """
                the key opens to just the fingers that it was made for. If the change was the \
                account's own, turn login on again; see 'signet list' first
                """,
            mend: mend(status, of: account))
    }

    /// The fingerprints cannot be opened.
    package static func fingersClosed(
        _ account: Bytes, reason: Bytes, _ status: StatusAnswer
    ) -> Finding {
        Finding(
            .fingersClosed, account,
            "the fingerprints of \(account) cannot be opened: \(detail: reason)",
            why: """
                no touch lets in while that is so. share/doc/signet/docs/admin/VAULT.md tells \
                what to do for each cause
                """,
            mend: LoginStep.closed(because: reason, status.cause).mend(of: account))
    }

    private static func mend(_ status: StatusAnswer, of account: Bytes) -> Text {
        switch status.cause {
        case .tpmExchanged: LoginStep.startAnew.mend(of: account)
        // Not before it is known which fingers are left.
        case .printDamaged:
            // Untranslated: a command
            "signet status --account \(Shell.word(account))"
        default: lookThenEnable(account)
        }
    }

    /// Some prints are damaged.
    package static func printsDamaged(_ account: Bytes, count: UInt8) -> Finding {
        Finding(
            .printsDamaged, account,
            "\(number: count) of the fingerprints of \(account) cannot be read",
            why: """
                a file was damaged or altered. 'signet list' shows which; delete and enroll it \
                again
                """,
            mend: "signet list --account \(Shell.word(account))")
    }

    /// The daemon would refuse a login now, for a reason that no other finding tells.
    package static func loginRefused(_ account: Bytes, _ refusal: Denial) -> Finding {
        Finding(
            .loginRefused, account,
            "fingerprint login does not work for \(account): \(refusal.text(account: account))",
            why: "every login asks for the password while that is so",
            mend: refusal.reason == .vaultUnavailable
                ? LoginStep.closed(because: refusal.subject ?? [], nil).mend(of: account)
                // Untranslated: a command
                : "signet status --account \(Shell.word(account))")
    }

    /// The daemon does not tell how things stand.
    package static func accountUnanswered(_ account: Bytes, reason: Text) -> Finding {
        Finding(
            .accountUnanswered, account,
            "the daemon does not tell how things stand for \(account): \(reason)",
            why: "no touch of this account lets in",
            mend: "journalctl -t signetd -n 20")
    }

    /// Fingers are there, and login was never turned on.
    package static func loginOff(_ account: Bytes) -> Finding {
        Finding(
            .loginOff, account,
            "\(account) has fingers enrolled, and no key for them",
            why: "no touch lets in until login by finger is turned on",
            mend: "signet enable --account \(Shell.word(account))")
    }

    /// Somebody turned login off.
    package static func loginDisabled(_ account: Bytes, since: Text?) -> Finding {
        Finding(
            .loginDisabled, account,
            since.map { "fingerprint login was turned off for \(account) on \($0)" }
                ?? "fingerprint login was turned off for \(account)",
            why: "somebody wanted it so; the fingers stay",
            mend: "signet enable --account \(Shell.word(account))")
    }

    /// The administrator's lists keep the account out.
    package static func keptOut(_ account: Bytes, setting: Bytes) -> Finding {
        Finding(
            .keptOut, account, CommandStatus.keptOut(account, setting),
            why: "somebody wanted it so; fingers may be enrolled all the same",
            mend: "signet config")
    }

    /// The account has no finger.
    package static func noFinger(_ account: Bytes) -> Finding {
        Finding(
            .noFinger, account,
            "\(account) has no finger enrolled",
            why: "the module stays out of this account's logins",
            mend: "signet enroll --account \(Shell.word(account))")
    }

    /// A pause after failed matches.
    package static func lockedForNow(_ account: Bytes, seconds: UInt32) -> Finding {
        Finding(
            .lockedForNow, account,
            "the finger of \(account) is kept out for \(number: seconds) s more",
            why: "too many fingers did not match. It ends by itself; the password works",
            mend: "signet unlock --account \(Shell.word(account))")
    }

    /// A lockout until the password.
    package static func lockedOut(_ account: Bytes) -> Finding {
        Finding(
            .lockedOut, account,
            "the finger of \(account) is kept out until the password is given",
            why: "twenty fingers did not match since the last that did: did somebody guess?",
            mend: "signet unlock --account \(Shell.word(account))")
    }

    /// Prints were made on readers that are not there.
    package static func printsElsewhere(_ account: Bytes, reader: Bytes) -> Finding {
        Finding(
            .printsElsewhere, account,
            "fingers of \(account) were enrolled on a reader that is not there: \(reader)",
            why: """
                they match on that reader only. Plug it in, or delete them and enroll on the \
                one that is there
                """,
            mend: "signet list --account \(Shell.word(account))")
    }

    /// The keyring does not open by touch any more.
    package static func keyringStale(_ account: Bytes, reason: Text) -> Finding {
        Finding(
            .keyringStale, account,
            "a touch does not open the keyring of \(account) any more",
            why: reason,
            mend: "signet enable --keyring --account \(Shell.word(account))")
    }

    /// Secrets that open to former fingers.
    package static func secretsStale(_ account: Bytes, names: Bytes) -> Finding {
        Finding(
            .secretsStale, account,
            "secrets of \(account) cannot be opened any more: \(names)",
            why: "they were kept for other fingers, or are damaged. Keep them anew, or delete them",
            mend: "signet secret list --account \(Shell.word(account))")
    }

    /// A server has to say yes to an account's logins, and cannot.
    package static func serverUnregistered(
        _ account: Bytes, url: Bytes, services: Bytes
    ) -> Finding {
        Finding(
            .serverUnregistered, account,
            "\(services): \(account) is not registered at \(url), which has to say yes there",
            why: """
                no touch lets in there, only the password: it never was registered, or its fingers \
                have changed since
                """,
            mend: "signet enable --server \(Shell.word(url)) --account \(Shell.word(account))")
    }

    /// There are more accounts than were asked about.
    package static func manyAccounts(_ count: UInt64) -> Finding {
        Finding(
            .manyAccounts, [],
            "only the first \(number: count) accounts were asked about",
            why: "the doctor stays quick. Ask about another by name",
            mend: "signet status --account NAME")
    }

    /// The daemon knows no reader.
    package static let noReader = Finding(
        .noReader, [],
        "no fingerprint reader was found",
        why: """
            nobody can touch anything. Is it plugged in, supported by libfprint, and not in \
            reader.ignore of the configuration?
            """,
        mend: "lsusb; signet config")

    /// fprintd has the reader.
    package static let fprintdRunning = Finding(
        .fprintdRunning, Bytes("fprintd".utf8),
        "fprintd is running",
        why: "only one program can have the reader: while it is open there, touches fail here",
        mend: "systemctl mask --now fprintd.service")

    /// fprintd may come.
    package static let fprintdInstalled = Finding(
        .fprintdInstalled, Bytes("fprintd".utf8),
        "fprintd is installed, and starts when a desktop asks for it",
        why: "only one program can have the reader. Mask it, if nothing needs it",
        mend: "systemctl mask --now fprintd.service")

    /// The vault that new keys are made in cannot be used.
    package static func vaultTrouble(_ vault: Bytes, reason: Bytes) -> Finding {
        Finding(
            .vaultTrouble, vault,
            "the vault '\(vault)' is wanted and cannot be used: \(detail: reason)",
            why: """
                no key can be made, and those in it do not open. share/doc/signet/docs/admin/VAULT.md \
                tells what to do
                """,
            mend: LoginStep.closed(because: reason, nil).mend(of: []))
    }

    /// The TPM's device is not as it should be.
    package static func tpmAccess(_ path: Bytes) -> Finding {
        Finding(
            .tpmAccess, path,
            "\(path) does not belong to the group tss, or the group may not use it",
            why: "the daemon has no capabilities, and comes to the TPM as a member of that group",
            mend: """
                systemd-sysusers signet.conf; chgrp tss \(Shell.word(path)); \
                chmod 660 \(Shell.word(path))
                """)
    }

    /// There is a TPM, and keys are made in files.
    package static let tpmUnused = Finding(
        .tpmUnused, Bytes("file".utf8),
        "this machine has a TPM, and new keys are kept in files",
        why: "a copy of the whole disk opens what is in files, and nothing of what is in the TPM",
        mend: "signet vault")
}
