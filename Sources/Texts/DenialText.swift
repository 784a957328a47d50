#if !hasFeature(Embedded)
import Statement
import Wire
#endif

extension Denial {
    /// What happened, why, and what to do now, for the person who asked about `account`.
    package func text(account: Bytes) -> Text {
        switch reason {
        case .notEnrolled:
            "no finger is enrolled for \(account). Run 'signet enroll' to add one"
        case .notEnabled:
            "fingerprint login is off for \(account). Run 'signet enable' to turn it on"
        case .invalidated: invalidatedText(account)
        case .lockedForNow:
            "too many fingers did not match: wait \(waitText), or use the password"
        case .lockedUntilPassword:
            """
            too many fingers did not match: fingerprint login is locked for \(account). \
            Log in with the password, or run 'signet unlock'
            """
        case .noMatch: "the finger did not match"
        case .timedOut: "the reader was not touched in time"
        case .cancelled: "cancelled"
        case .remoteSession: "fingerprint login does not serve remote sessions: use the password"
        case .queueFull:
            """
            the reader is in use\(subjectText(" by ")), and others wait. Try again later
            """
        case .noReader, .readerRemoved, .readerTooHot, .readerBusy, .readerFailed: readerText
        case .notPermitted: "you may not ask this for \(account)"
        case .unknownAccount: "there is no account \(account) on this machine"
        case .wrongPassword, .passwordCheckFailed, .fingerTaken, .fingerKnown, .tooManyFingers,
            .unknownFinger, .secretExists, .unknownSecret, .secretStale, .tooManySecrets:
            commandText
        case .storage: "what was needed could not be read or written\(subjectText(": "))"
        case .tooManyRequests: "too many requests. Wait a moment and try again"
        case .badRequest: "the request was not understood, or is not possible now"
        case .notServed:
            "fingerprint login is not for \(account)\(subjectText(": ")). See signet.conf"
        case .inBackground:
            "the request came from the background, and no touch is asked for there"
        case .stopping: "the fingerprint service is stopping. Try again"
        case .suspending: "the machine is going to sleep. Try again afterwards"
        case .vaultUnavailable: vaultText
        case .fingersClosed:
            """
            the stored fingerprints cannot be opened\(subjectText(": ")). Use the password. \
            If it stays so: 'signet delete --all', then 'signet enroll'
            """
        case .platformChanged:
            """
            the system was started in another state than fingerprint login was enabled in. \
            Use the password, and run 'signet enable' if the change was yours
            """
        }
    }

    private var vaultText: Text {
        "the key cannot be used\(subjectText(": ")). Use the password; see 'signet vault'"
    }

    private func invalidatedText(_ account: Bytes) -> Text {
        """
        fingerprint login is off for \(account): \(causeText)\(sinceText). \
        \(cause == .tpmExchanged ? Denial.startAnew : "Run 'signet enable' to turn it on again")
        """
    }

    /// The way on where the fingerprints do not open any more, with the key.
    private static var startAnew: Text {
        "Start anew with 'signet delete --all' and 'signet enroll'"
    }

    private var causeText: Text {
        cause?.text ?? "the fingers have changed"
    }

    private var waitText: Text {
        guard let seconds else { return "a moment" }
        return "\(number: seconds) s"
    }

    private var sinceText: Text {
        guard let since else { return "" }
        return " on \(Text.date(since))"
    }

    /// The subject behind its joining words, or nothing where none is told.
    private func subjectText(_ joint: Text) -> Text {
        guard let subject, !subject.isEmpty else { return "" }
        return "\(joint)\(subject)"
    }

    private var readerText: Text {
        switch reason {
        case .readerRemoved: "the fingerprint reader was unplugged"
        case .readerTooHot: "the fingerprint reader has to cool down: use the password for now"
        case .readerBusy: "the fingerprint reader is in use by another program"
        case .readerFailed: "the fingerprint reader failed\(subjectText(": "))"
        default: "no fingerprint reader was found that can be used for this"
        }
    }
}

#if hasFeature(Embedded)
extension Denial {
    /// Never the answer to a login.
    private var commandText: Text { "the request is not possible now" }
}
#else
extension Denial {
    /// What is answered to the command `signet` only.
    private var commandText: Text {
        switch reason {
        case .wrongPassword: "the password was wrong"
        case .passwordCheckFailed:
            "the password could not be checked: see 'journalctl -t signetd'"
        case .fingerTaken: "this finger is enrolled for another account"
        case .fingerKnown: fingerKnownText
        case .tooManyFingers: "no more fingers can be added. Delete one with 'signet delete'"
        case .unknownFinger: "no such finger is enrolled. See 'signet list'"
        case .secretExists:
            "there is a secret\(subjectText(" ")) already. Say '--replace' to replace it"
        case .unknownSecret: "there is no secret\(subjectText(" ")). See 'signet secret list'"
        case .secretStale:
            "the fingers have changed since the secret\(subjectText(" ")) was kept: set it again"
        case .tooManySecrets: "no more secrets can be kept. Delete one with 'signet secret delete'"
        default: "the request is not possible now"
        }
    }

    private var fingerKnownText: Text {
        guard let finger else { return "this finger is already enrolled" }
        return "this finger is already enrolled, as \(finger.name.bytes)"
    }
}
#endif

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
        case .fingerAddedOnReader: "a finger was added in the reader itself"
        case .fingerRemovedOnReader: "a finger was removed in the reader itself"
        case .readerExchanged: "the fingerprint reader is another one"
        case .tpmExchanged: "the TPM was cleared or replaced"
        }
    }
}

extension Text {
    /// A day in UTC, for example `20 Nov 2026`; `seconds` since 1970.
    package static func date(_ seconds: UInt64) -> Text {
        let (year, month, day) = Instant(seconds: seconds).civilDate
        return "\(number: day) \(monthName(month)) \(number: year)"
    }

    private static func monthName(_ month: UInt64) -> Text {
        switch month {
        case 1: "Jan"
        case 2: "Feb"
        case 3: "Mar"
        case 4: "Apr"
        case 5: "May"
        case 6: "Jun"
        case 7: "Jul"
        case 8: "Aug"
        case 9: "Sep"
        case 10: "Oct"
        case 11: "Nov"
        default: "Dec"
        }
    }
}
