// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

// What a denied login says to the user. The module and the command share these texts, so a reason
// reads the same at a prompt and in a terminal. Each says what happened, then what to do.
extension LoginDenial {
    /// What happened, why, and what to do now, for the person who logs in as `account`. What
    /// commands alone are refused for has its words in `Denial.text(account:)`.
    package func loginText(account: AccountName) -> Text {
        switch reason {
        case .notEnrolled:
            "no finger is enrolled for \(account). Run 'signet enroll' to add one"
        case .notEnabled:
            "fingerprint login is off for \(account). Run 'signet enable' to turn it on"
        case .invalidated: invalidatedText(account)
        case .lockedForNow: waitText
        case .lockedUntilPassword:
            """
            too many failed scans: fingerprint login is locked for \(account). Log in with the \
            password, or run 'signet unlock'
            """
        case .noMatch: "the finger did not match"
        case .timedOut: "no fingerprint was read in time"
        case .cancelled: "cancelled"
        case .remoteSession: "fingerprint login does not work in remote sessions: use the password"
        case .queueFull: queueText
        case .noReader: "no usable fingerprint reader was found: use the password"
        case .readerRemoved: "the fingerprint reader was unplugged: use the password"
        case .readerTooHot:
            """
            the fingerprint reader is too hot. Use the password until it has cooled down
            """
        case .readerBusy: "the fingerprint reader is in use by another program: use the password"
        case .readerFailed: failedText
        case .readerConfused:
            """
            the fingerprint reader gave an answer that its driver does not understand: \
            try again, or use the password
            """
        case .printLost:
            """
            the fingerprint reader no longer has the fingerprint of \(account): \
            use the password, and run 'signet enroll' to enrol the finger again
            """
        case .notPermitted: "you may not do this for \(account)"
        case .unknownAccount: "there is no account \(account) on this machine"
        case .storage: storageText
        case .tooManyRequests: "too many requests. Wait a moment and try again"
        case .badRequest: "the request was not understood, or is not possible now"
        case .notServed: notServedText(account)
        case .inBackground:
            "the request came from the background, where no touch is asked for"
        case .notAtMachine: notAtMachineText
        case .otherRequester: otherRequesterText(account)
        case .answerTooLate:
            "the touch was not confirmed in time and does not count: try again, or use the password"
        case .changedMeanwhile:
            """
            the fingers, the key or the session changed meanwhile, and nothing was done: try again, \
            or use the password
            """
        case .stopping: "the fingerprint service is stopping. Try again"
        case .suspending: "the machine is going to sleep. Try again afterwards"
        case .lidClosed: "the lid is closed. Open it to scan a finger, or use the password"
        case .otherSeat: "the fingerprint reader is at another seat: use the password"
        case .vaultUnavailable: vaultText
        case .fingersClosed: closedText
        case .platformChanged:
            """
            the system was booted in a different state from the one in which fingerprint login was \
            enabled. Use the password, and run 'signet enable' if you made the change
            """
        case .serverRefused: refusedText
        case .serverUnreachable: "the request to the server failed: \(serverSubject)"
        case .unknownServer:
            """
            this device is not registered at \(serverSubject). Run 'signet enable --server' with an \
            activation code
            """
        case .serverKeyInvalidated:
            """
            the fingers have changed since this device was registered at \(serverSubject). Run \
            'signet enable --server' with a new activation code
            """
        case .serverKeyReplaced:
            """
            another device replaced this one at \(serverSubject), and the key here was destroyed. \
            Run 'signet enable --server' to register this device again
            """
        case .serverKeyRemoved:
            """
            the registration was removed at \(serverSubject), and the key here was destroyed. Run \
            'signet enable --server' to register again
            """
        case .serverKeyBlocked:
            "the registration at \(serverSubject) is blocked. Ask the server's administrator"
        case .serverTooLongAgo: tooLongAgoText
        case .serverLost:
            """
            \(serverSubject) answered before the touch, but not after it. Try again, or use the \
            password
            """
        case .serverBusy:
            "\(serverSubject) has not answered the previous request yet. Wait, and try again"
        case .clockSetBack: clockText
        case .passwordOnly: "a finger is being added or deleted: use the password"
        case .settingsNotUnderstood:
            """
            no finger is asked for until an administrator corrects this: \(subject ?? []). Use the \
            password; see 'signet config --check'
            """
        }
    }

    /// The daemon's detail, or the account that it concerns; nil if it gives none.
    private var told: Bytes? {
        guard let subject, !subject.isEmpty else { return nil }
        return subject
    }

    private var notAtMachineText: Text {
        guard let told else { return "a fingerprint is not accepted here: use the password" }
        return "a fingerprint is not accepted here: \(detail: told). Use the password"
    }

    private func otherRequesterText(_ account: AccountName) -> Text {
        guard let told else {
            return "a fingerprint can only confirm requests made by \(account): use the password"
        }
        return """
            \(told) asked for this, but a fingerprint can only confirm requests made by \
            \(account): use the password
            """
    }

    private func notServedText(_ account: AccountName) -> Text {
        guard let told else {
            return """
                fingerprint login is turned off for \(account) in signet.conf
                """
        }
        return "fingerprint login is turned off for \(account) in signet.conf: \(told)"
    }

    private var vaultText: Text {
        guard let told else {
            return "the key cannot be used. Use the password; see 'signet vault'"
        }
        return "the key cannot be used: \(detail: told). Use the password; see 'signet vault'"
    }

    private var closedText: Text {
        guard let told else {
            return """
                the stored fingerprints cannot be opened. Use the password. If this persists: \
                'signet delete --all', then 'signet enroll'
                """
        }
        return """
            the stored fingerprints cannot be opened: \(detail: told). Use the password. If this \
            persists: 'signet delete --all', then 'signet enroll'
            """
    }

    private var storageText: Text {
        guard let told else { return "stored data could not be read or written" }
        return "stored data could not be read or written: \(detail: told)"
    }

    private var queueText: Text {
        guard let told else {
            return "the reader's queue is full. Try again later"
        }
        return "\(told) is using the reader, and the queue is full. Try again later"
    }

    private func invalidatedText(_ account: AccountName) -> Text {
        if cause == .tpmExchanged {
            return """
                fingerprint login is off for \(account): \(causeText). Start over with 'signet \
                delete --all' and 'signet enroll'
                """
        }
        if cause == .passwordReplaced {
            return """
                fingerprint login is off for \(account): \(causeText). Log in with the \
                password once
                """
        }
        if cause == .accountReplaced {
            return """
                fingerprint login is off for \(account): \(causeText). Run 'signet enable' if \
                the fingers are yours, else 'signet delete --all'
                """
        }
        if cause == .printDamaged {
            return """
                fingerprint login is off for \(account): \(causeText). \
                Run 'signet status' to see which, and what to do
                """
        }
        return """
            fingerprint login is off for \(account): \(causeText). \
            Run 'signet enable' to turn it on again
            """
    }

    /// The cause, and the day if it is known.
    private var causeText: Text {
        let cause = cause?.text ?? "the fingers have changed"
        guard let since else { return cause }
        return "\(cause) on \(Text.date(since))"
    }

    private var waitText: Text {
        guard let seconds else {
            return "too many failed scans: wait a moment, or use the password"
        }
        return "too many failed scans: wait \(number: seconds) s, or use the password"
    }

    private var failedText: Text {
        guard let told else { return "the fingerprint reader failed: use the password" }
        return "the fingerprint reader failed: \(detail: told)"
    }
}

extension InvalidationCause {
    /// The cause in a few words, for `signet status`.
    package var text: Text {
        switch self {
        case .fingerAdded: "a finger was added"
        case .fingerRemoved: "a finger was removed"
        case .fingerReplaced: "a finger was replaced"
        case .printDamaged: "a stored fingerprint was damaged or altered"
        case .credentialDamaged: "the stored key was damaged or altered"
        case .hostSecretChanged: "this machine's secret is not the one the key was sealed with"
        case .fingerAddedOnReader: "a finger was added on the reader itself"
        case .fingerRemovedOnReader: "a finger was removed on the reader itself"
        case .readerExchanged: "the fingerprint reader was replaced"
        case .tpmExchanged: "the TPM was cleared or replaced"
        case .accountReplaced: "the account was renamed or replaced"
        case .passwordReplaced: "the password was set without the old one"
        }
    }
}

extension Text {
    /// A day in UTC, for example `20 Nov 2026`; `seconds` since 1970.
    package static func date(_ seconds: UInt64) -> Text {
        let (year, month, day) = Instant(seconds: seconds).civilDate
        return switch month {
        case 1: "\(number: day) Jan \(number: year)"
        case 2: "\(number: day) Feb \(number: year)"
        case 3: "\(number: day) Mar \(number: year)"
        case 4: "\(number: day) Apr \(number: year)"
        case 5: "\(number: day) May \(number: year)"
        case 6: "\(number: day) Jun \(number: year)"
        case 7: "\(number: day) Jul \(number: year)"
        case 8: "\(number: day) Aug \(number: year)"
        case 9: "\(number: day) Sep \(number: year)"
        case 10: "\(number: day) Oct \(number: year)"
        case 11: "\(number: day) Nov \(number: year)"
        default: "\(number: day) Dec \(number: year)"
        }
    }
}
