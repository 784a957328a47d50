// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import SignedFormats

/// Every way in which a login ends other than with a proof that verified.
enum LoginFailure: Error {
    /// There is nothing to do here; told to nobody but a debugger.
    case declined(StaticString)
    /// The finger cannot be asked for just now; the person is told.
    case unavailable(StaticString, shown: Text)
    /// A password was typed and handed on.
    case passwordTyped
    /// Enter alone: the next module shall ask.
    case passwordWanted
    /// The person interrupted it.
    case interrupted
    /// The person suspended it, and is back.
    case suspended
    /// The time was up; `mismatches` scans did not match before.
    case timeUp(mismatches: UInt8)
    /// The daemon said no.
    case denied(LoginDenial, account: Bytes)
    /// A proof was good, and is not, or was not found to be, good any more.
    case expired(LoginDenial, account: Bytes)
    /// Something that must be right is not: nobody is let in, and the journal is alarmed.
    case refused(StaticString)
    /// The stack's line has an option that is refused.
    case badOption(Bytes)
    /// The server's file is not there, or not understood: a line of it, or 0 for all of it.
    case badServer(Bytes, UInt32)
    /// A call of libpam failed with this code.
    case libpam(Int32)
}

extension Application {
    /// Tells the person and the journal of an ending, and gives its PAM code.
    ///
    /// PAM_IGNORE is never among them: a skipped factor must not look like an absent one.
    func conclude(_ ending: LoginFailure) -> Int32 {
        switch ending {
        case .declined(let why):
            trace("declined: \(literal: why)")
            return PAM_AUTHINFO_UNAVAIL
        case .unavailable(let why, let shown):
            log(LOG_WARNING, "fingerprint login is not available: \(literal: why)")
            show(shown, asError: true)
            return PAM_AUTHINFO_UNAVAIL
        case .passwordTyped, .passwordWanted, .suspended:
            trace("the password is used instead")
            return PAM_AUTHINFO_UNAVAIL
        case .interrupted:
            // As when a password prompt is interrupted: stacks with `conv_err=die` end here.
            trace("interrupted")
            return PAM_CONV_ERR
        case .timeUp(let mismatches):
            show(LoginDenial(.timedOut).loginText(account: []), asError: true)
            return mismatches > 0 ? PAM_AUTH_ERR : PAM_AUTHINFO_UNAVAIL
        case .denied(let denial, let account):
            if denial.reason.isAlarming { return conclude(.expired(denial, account: account)) }
            trace("denied: reason \(number: denial.reason.rawValue)")
            if !denial.reason.isSilent(isAttended: isAttended) {
                show(denial.loginText(account: account), asError: true)
            }
            return denial.code
        case .expired(let denial, let account):
            log(LOG_ALERT, "fingerprint login refused: the proof is not valid any more")
            show(denial.loginText(account: account), asError: true)
            return PAM_AUTH_ERR
        case .refused(let why):
            log(LOG_ALERT, "fingerprint login refused: \(literal: why)")
            show(Prompt.refused, asError: true)
            return PAM_AUTH_ERR
        case .badOption(let option):
            // Not PAM_AUTHINFO_UNAVAIL: a factor that is misconfigured is not an absent one.
            // A sufficient line goes on to the password, a required one denies.
            log(LOG_ERR, "option '\(option)' is unknown, malformed or repeated: not serving")
            return PAM_SERVICE_ERR
        case .badServer(let path, let line):
            // As for an option; louder, since a server was to decide.
            if line == 0 {
                log(LOG_ALERT, "the server's file '\(path)' is not there or not whole: not serving")
            } else {
                log(LOG_ALERT, "line \(number: line) of the server's file '\(path)': not serving")
            }
            return PAM_SERVICE_ERR
        case .libpam(let code):
            log(LOG_ERR, "libpam failed with code \(number: UInt32(clamping: code))")
            return code == PAM_BUF_ERR ? PAM_BUF_ERR : PAM_SYSTEM_ERR
        }
    }
}

extension LoginDenial {
    /// The PAM code, as the table of return codes has it.
    fileprivate var code: Int32 {
        switch reason {
        case .noMatch: return PAM_MAXTRIES
        case .lockedForNow, .lockedUntilPassword:
            return mismatches > 0 ? PAM_MAXTRIES : PAM_AUTHINFO_UNAVAIL
        // The server was asked and refused, or the proof is not valid any more.
        case .answerTooLate, .changedMeanwhile, .serverRefused, .serverKeyReplaced,
            .serverKeyRemoved,
            .serverKeyBlocked:
            return PAM_AUTH_ERR
        case .notEnrolled, .notEnabled, .invalidated, .noReader, .readerRemoved, .readerTooHot,
            .readerBusy, .readerFailed, .readerConfused, .printLost,
            .timedOut, .cancelled, .remoteSession, .queueFull,
            .notPermitted, .unknownAccount, .storage, .tooManyRequests,
            .badRequest, .stopping, .suspending, .vaultUnavailable, .platformChanged,
            .fingersClosed,
            .notServed, .inBackground, .notAtMachine, .otherRequester, .lidClosed, .otherSeat,
            .serverUnreachable,
            .unknownServer,
            .serverKeyInvalidated, .serverTooLongAgo, .serverLost, .serverBusy, .clockSetBack:
            return mismatches > 0 ? PAM_AUTH_ERR : PAM_AUTHINFO_UNAVAIL
        }
    }
}

extension LoginDenialReason {
    /// Whether a proof that was good is refused: something may have held the process, or changed.
    fileprivate var isAlarming: Bool { self == .answerTooLate || self == .changedMeanwhile }

    /// Whether nothing is said. What keeps a finger out for long is told at a terminal, where one line
    /// does no harm, and not at each login of a desktop; who never enrolled is told nothing.
    fileprivate func isSilent(isAttended: Bool) -> Bool {
        switch self {
        case .notEnrolled, .cancelled, .notPermitted, .unknownAccount, .inBackground: true
        case .notEnabled, .noReader, .remoteSession, .notServed, .lidClosed, .otherSeat: !isAttended
        case .invalidated, .lockedForNow, .lockedUntilPassword, .readerRemoved, .readerTooHot,
            .readerBusy, .readerFailed, .readerConfused, .printLost,
            .noMatch, .timedOut, .queueFull,
            .storage, .tooManyRequests, .badRequest, .stopping, .suspending, .vaultUnavailable,
            .platformChanged, .fingersClosed, .notAtMachine, .otherRequester, .answerTooLate,
            .changedMeanwhile, .serverUnreachable,
            .serverRefused, .unknownServer,
            .serverKeyInvalidated, .serverKeyReplaced, .serverKeyRemoved, .serverKeyBlocked,
            .serverTooLongAgo, .serverLost, .serverBusy, .clockSetBack:
            false
        }
    }
}

extension Text.Interpolation {
    /// Appends words that stand in this module's source.
    mutating func appendInterpolation(literal: StaticString) {
        appendInterpolation(literal.bytes)
    }
}
