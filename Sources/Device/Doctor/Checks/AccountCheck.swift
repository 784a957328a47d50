// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Checks whether fingerprint login works for each account, according to the daemon's report.
struct AccountCheck {
    let view: DaemonView

    /// The findings; there are none unless the daemon answers.
    func findings() -> [Finding] {
        guard view.reach == .answers else { return [] }
        var findings: [Finding] = []
        for account in view.accounts {
            findings += Self.status(of: account) + Self.storage(of: account)
            findings += printsElsewhere(account)
        }
        findings += view.denied.map { Self.unanswered($0.name, reason: $0.reason) }
        return findings + (view.isCut ? [Self.many] : [])
    }

    /// Checks whether fingers, key, lists and lockout permit the account to log in.
    private static func status(of account: AccountView) -> [Finding] {
        let (name, status) = (account.name, account.status)
        var findings: [Finding] = []
        if let reason = status.closed {
            findings.append(fingersClosed(name, reason: reason, cause: status.cause))
        }
        if status.damaged > 0 { findings.append(printsDamaged(name, count: status.damaged)) }
        switch status.state {
        case .valid: break
        case .invalidated: findings.append(credentialInvalid(name, status: status))
        case .disabled: findings.append(disabled(name, since: status.since.map(Text.date)))
        case .none: findings.append(status.prints > 0 ? off(name) : noFinger(name))
        }
        if let setting = status.keptOut { findings.append(keptOut(name, setting: setting)) }
        switch status.lock {
        case .open: break
        case .forNow: findings.append(lockedForNow(name, seconds: status.seconds ?? 0))
        case .untilPassword: findings.append(lockedOut(name))
        }
        guard findings.isEmpty, let refusal = status.refusal else { return findings }
        switch refusal.reason {
        // Findings about the machine or its readers cover these refusals, for all accounts.
        case .noReader where refusal.subject == nil: return []
        case .lidClosed, .settingsNotUnderstood: return []
        case .remoteSession, .notAtMachine, .otherRequester:
            return [notHere(name, refusal: refusal)]
        default: return [refused(name, refusal: refusal)]
        }
    }

    /// Checks whether the login password and the secrets that are stored for the account can be
    /// opened.
    private static func storage(of account: AccountView) -> [Finding] {
        var findings: [Finding] = []
        switch account.status.keyring {
        case .on, .off: break
        case .passwordChanged, .fingersChanged, .damaged:
            let reason = StatusText.keyring(account.status)
            findings.append(keyringStale(account.name, reason: reason))
        }
        let stale = account.secrets.filter { $0.state != .fits }.map(\.name)
        if !stale.isEmpty {
            let names = Bytes(stale.joined(separator: ", ".utf8))
            findings.append(secretsStale(account.name, names: names))
        }
        return findings
    }

    /// Findings on readers that the account's prints were made on, but that are not present.
    private func printsElsewhere(_ account: AccountView) -> [Finding] {
        // Without any reader, the missing reader is the finding.
        guard let readers = view.readers, !readers.isEmpty else { return [] }
        let intact = account.prints.filter(\.intact)
        let missing = Set(intact.filter { $0.state == .readerAway }.map(\.readerID))
        return missing.sorted { $0.lexicographicallyPrecedes($1) }
            .map { Self.printsElsewhere(account.name, reader: $0) }
            + intact.filter { $0.state == .lost }.map { Self.printLost(account.name, print: $0) }
    }
}

/// Findings on faults and states that prevent an account from logging in with a finger.
extension AccountCheck {
    /// The key does not fit the fingers.
    private static func credentialInvalid(_ account: AccountName, status: StatusAnswer) -> Finding {
        let cause = StatusText.cause(status)
        let isReplaced = status.cause == .accountReplaced || status.cause == .passwordReplaced
        let mend: Text =
            switch status.cause {
            case .tpmExchanged: LoginStep.startAnew.mend(of: account)
            // 'signet list' is refused until one of the two was run.
            case .accountReplaced, .passwordReplaced: Remedy.lookThenAdopt(account)
            // Not before it is known which fingers are left.
            case .printDamaged: "signet status --account \(Shell.word(account))"
            case .fingerAdded, .fingerRemoved, .fingerReplaced, .credentialDamaged,
                .hostSecretChanged, .fingerAddedOnReader, .fingerRemovedOnReader,
                .readerExchanged, nil:
                Remedy.lookThenEnable(account)
            }
        return Finding(
            "credential-invalid", level: .fault, area: .accounts, subject: account.bytes,
            what: status.since.map {
                "fingerprint login has been off for \(account) since \(Text.date($0)): \(cause)"
            } ?? "fingerprint login is off for \(account): \(cause)",
            why: isReplaced
                ? """
                another person may have the account now. If it still belongs to the person who \
                enrolled the fingers, turn fingerprint login on again; otherwise, delete what was \
                stored
                """
                : """
                the key opens only for the fingers that it was made for. Check the fingers with \
                'signet list'. If the user made the change, turn fingerprint login on again
                """,
            mend: mend)
    }

    /// The fingerprints cannot be opened.
    private static func fingersClosed(
        _ account: AccountName, reason: Bytes, cause: InvalidationCause?
    ) -> Finding {
        Finding(
            "fingers-closed", level: .fault, area: .accounts, subject: account.bytes,
            what: "the fingerprints of \(account) cannot be opened: \(detail: reason)",
            why: """
                no touch is accepted until this is fixed. share/doc/signet/docs/admin/VAULT.md \
                describes what to do for each cause
                """,
            mend: LoginStep.closed(because: reason, cause: cause).mend(of: account))
    }

    /// Some prints are damaged.
    private static func printsDamaged(_ account: AccountName, count: UInt8) -> Finding {
        Finding(
            "prints-damaged", level: .fault, area: .accounts, subject: account.bytes,
            what: "\(number: count) of the fingerprints of \(account) cannot be read",
            why: """
                a file was damaged or altered. 'signet list' shows which finger it is: delete it \
                and enrol it again
                """,
            mend: "signet list --account \(Shell.word(account))")
    }

    /// The daemon would refuse a login now, for a reason that no other finding reports.
    private static func refused(_ account: AccountName, refusal: Denial) -> Finding {
        Finding(
            "login-refused", level: .fault, area: .accounts, subject: account.bytes,
            what: """
                fingerprint login does not work for \(account): \(refusal.text(account: account))
                """,
            why: "every login asks for the password until this is fixed",
            mend: refusal.reason == .vaultUnavailable
                ? LoginStep.closed(because: refusal.subject ?? [], cause: nil).mend(of: account)
                : "signet status --account \(Shell.word(account))")
    }

    /// No touch is accepted in the place from which the doctor asks.
    private static func notHere(_ account: AccountName, refusal: Denial) -> Finding {
        Finding(
            "login-not-here", level: .note, area: .accounts, subject: account.bytes,
            what: """
                no touch of \(account) is accepted in this session: \(refusal.text(account: account))
                """,
            why: """
                a touch counts only for the person at the machine. Run the doctor there, or as \
                root, who is told about a login at the machine
                """,
            mend: "signet status --account \(Shell.word(account))")
    }

    /// The daemon does not report the account's state.
    private static func unanswered(_ account: AccountName, reason: Text) -> Finding {
        Finding(
            "account-unanswered", level: .fault, area: .accounts, subject: account.bytes,
            what: "the daemon does not report the state of \(account): \(reason)",
            why: "no touch of this account is accepted",
            mend: "journalctl -t signetd -n 20")
    }

    /// Fingers are enrolled, but fingerprint login was never turned on.
    private static func off(_ account: AccountName) -> Finding {
        Finding(
            "login-off", level: .warning, area: .accounts, subject: account.bytes,
            what: "\(account) has enrolled fingers, but no key for them",
            why: "no touch is accepted until fingerprint login is turned on",
            mend: "signet enable --account \(Shell.word(account))")
    }

    /// Fingerprint login was turned off.
    private static func disabled(_ account: AccountName, since: Text?) -> Finding {
        Finding(
            "login-disabled", level: .note, area: .accounts, subject: account.bytes,
            what: since.map { "fingerprint login was turned off for \(account) on \($0)" }
                ?? "fingerprint login was turned off for \(account)",
            why: "this was done on purpose; the fingers stay enrolled",
            mend: "signet enable --account \(Shell.word(account))")
    }

    /// The administrator's lists exclude the account.
    private static func keptOut(_ account: AccountName, setting: Bytes) -> Finding {
        Finding(
            "kept-out", level: .note, area: .accounts, subject: account.bytes,
            what: StatusText.keptOut(account, setting: setting),
            why: "this was configured on purpose; fingers can still be enrolled",
            mend: "signet config")
    }

    /// The account has no enrolled finger.
    private static func noFinger(_ account: AccountName) -> Finding {
        Finding(
            "no-finger", level: .note, area: .accounts, subject: account.bytes,
            what: "\(account) has no finger enrolled",
            why: "the module does nothing when this account logs in",
            mend: "signet enroll --account \(Shell.word(account))")
    }

    /// A pause after failed matches.
    private static func lockedForNow(_ account: AccountName, seconds: UInt32) -> Finding {
        Finding(
            "locked-for-now", level: .note, area: .accounts, subject: account.bytes,
            what: "fingerprint login for \(account) is locked for another \(number: seconds) s",
            why: "too many failed scans. The lockout ends by itself; the password works",
            mend: "signet unlock --account \(Shell.word(account))")
    }

    /// A lockout until the password.
    private static func lockedOut(_ account: AccountName) -> Finding {
        Finding(
            "locked-out", level: .warning, area: .accounts, subject: account.bytes,
            what: "fingerprint login for \(account) is locked until the password is entered",
            why: "20 failed scans since the last success. Someone may be trying to get in",
            mend: "signet unlock --account \(Shell.word(account))")
    }
}

/// Findings on the data that is stored for accounts, and on the accounts as a whole.
extension AccountCheck {
    /// A reader has reported that it no longer stores a print.
    private static func printLost(_ account: AccountName, print: PrintAnswer) -> Finding {
        let finger: Text = print.finger.map { "\($0.name.bytes)" } ?? ""
        return Finding(
            "print-lost", level: .warning, area: .accounts, subject: account.bytes,
            what: """
                the reader \(print.readerID) has reported that it no longer stores the print of \
                \(finger) of \(account)
                """,
            why: """
                the finger does not match any more. The reader's storage was cleared, by another \
                system or by its firmware. Enrol the finger again
                """,
            mend: "signet enroll \(finger) --account \(Shell.word(account))")
    }

    /// Prints were made on readers that are not connected.
    private static func printsElsewhere(_ account: AccountName, reader: Bytes) -> Finding {
        Finding(
            "prints-elsewhere", level: .warning, area: .accounts, subject: account.bytes,
            what: """
                fingers of \(account) were enrolled on a reader that is not connected: \(reader)
                """,
            why: """
                they match on that reader only. Connect it, or delete the fingers and enrol them \
                on a reader that is connected
                """,
            mend: "signet list --account \(Shell.word(account))")
    }

    /// A touch no longer opens the keyring.
    private static func keyringStale(_ account: AccountName, reason: Text) -> Finding {
        Finding(
            "keyring-stale", level: .warning, area: .accounts, subject: account.bytes,
            what: "a touch no longer opens the keyring of \(account)",
            why: reason,
            mend: "signet enable --keyring --account \(Shell.word(account))")
    }

    /// Secrets that only former fingers open.
    private static func secretsStale(_ account: AccountName, names: Bytes) -> Finding {
        Finding(
            "secrets-stale", level: .warning, area: .accounts, subject: account.bytes,
            what: "secrets of \(account) can no longer be opened: \(names)",
            why: """
                they were stored for other fingers, or are damaged. Store them again, or delete \
                them
                """,
            mend: "signet secret list --account \(Shell.word(account))")
    }

    /// There are more accounts than were checked.
    private static let many = Finding(
        "many-accounts", level: .note, area: .accounts,
        what: "only the first \(number: UInt64(Machine.mostAccounts)) accounts were examined",
        why: "this limit keeps the doctor fast. To check another account, name it",
        mend: "signet status --account NAME")
}
