// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// Every way in which a login ends without a verified proof.
///
/// `Application.conclude` maps each case to messages and a PAM code. Codes differ by meaning: an
/// absent factor is PAM_AUTHINFO_UNAVAIL, a failed or refused one is PAM_AUTH_ERR or PAM_MAXTRIES,
/// and a mistake in the configuration is PAM_SERVICE_ERR. The enumeration is indirect so that
/// throwing passes on one word, which makes the module smaller.
indirect enum LoginFailure: Error {
    /// The module has nothing to do here; this is logged only with `debug`.
    case declined(StaticString)
    /// A fingerprint cannot be asked for at present; the user is told.
    case unavailable(StaticString, shown: Text)
    /// The daemon listens and has not answered in time: it is slow, or stands still.
    case late
    /// A password was typed and passed on as PAM_AUTHTOK.
    case passwordTyped
    /// Enter was pressed on an empty line, so the next module should ask for the password.
    case passwordWanted
    /// The user interrupted the login.
    case interrupted
    /// The user suspended the process and has continued it.
    case suspended
    /// The deadline passed; `mismatches` scans had not matched.
    case timeUp(mismatches: UInt8)
    /// The daemon denied the request.
    case denied(LoginDenial, account: AccountName)
    /// A proof was good but is no longer valid, or its validity could not be confirmed in time.
    case expired(LoginDenial, account: AccountName)
    /// A security check failed: the login is refused, and an alert is logged.
    case refused(StaticString)
    /// The stack's line has an invalid option.
    case badOption(Bytes)
    /// The server's file is missing or invalid; the number is the faulty line, or 0 for the whole
    /// file.
    case badServer(Bytes, UInt32)
    /// A libpam function failed with this code.
    case libpam(Int32)

    /// The daemon or libcrypto cannot be used; the user sees that the service does not answer.
    @inline(never)
    static func silent(_ why: StaticString) -> LoginFailure {
        .unavailable(why, shown: Prompt.silent)
    }
}

extension Application {
    /// Shows and logs a failure, and returns its PAM code.
    ///
    /// The code is never PAM_IGNORE: a skipped factor must not look like an absent one.
    func conclude(_ ending: LoginFailure) -> Int32 {
        switch ending {
        case .declined(let why):
            trace("declined: \(literal: why)")
            return PAM_AUTHINFO_UNAVAIL
        case .unavailable(let why, let shown):
            log(LOG_WARNING, text: "fingerprint login is not available: \(literal: why)")
            show(shown, asError: true)
            return PAM_AUTHINFO_UNAVAIL
        case .late: return conclude(.silent("signetd did not answer"))
        case .passwordTyped, .passwordWanted, .suspended:
            trace("the password is used instead")
            return PAM_AUTHINFO_UNAVAIL
        case .interrupted:
            // Like an interrupted password prompt: stacks with `conv_err=die` end here.
            trace("interrupted")
            return PAM_CONV_ERR
        case .timeUp(let mismatches):
            show(LoginDenial(.timedOut).loginText(account: .none), asError: true)
            return mismatches > 0 ? PAM_AUTH_ERR : PAM_AUTHINFO_UNAVAIL
        case .denied(let denial, let account):
            if denial.reason.isAlarming { return conclude(.expired(denial, account: account)) }
            trace("denied: reason \(number: denial.reason.rawValue)")
            if !denial.reason.isSilent(isAttended: isAttended) {
                show(denial.loginText(account: account), asError: true)
            }
            return denial.code
        case .expired(let denial, let account):
            log(LOG_ALERT, text: "fingerprint login refused: the proof is no longer valid")
            show(denial.loginText(account: account), asError: true)
            return PAM_AUTH_ERR
        case .refused(let why):
            log(LOG_ALERT, text: "fingerprint login refused: \(literal: why)")
            show(Prompt.refused, asError: true)
            return PAM_AUTH_ERR
        case .badOption(let option):
            // Not PAM_AUTHINFO_UNAVAIL: a misconfigured factor is not an absent one. A sufficient
            // line continues with the password, a required one denies.
            log(LOG_ERR, text: "option '\(option)' is unknown, malformed or repeated: correct it")
            return PAM_SERVICE_ERR
        case .badServer(let path, let line):
            // As for a bad option, but at a higher level, because a server was meant to decide.
            if line == 0 {
                log(
                    LOG_ALERT,
                    text: "the server file '\(path)' is missing or incomplete: restore it")
            } else {
                log(
                    LOG_ALERT,
                    text: "line \(number: line) of the server file '\(path)' is wrong: correct it")
            }
            return PAM_SERVICE_ERR
        case .libpam(let code):
            log(LOG_ERR, text: "libpam failed with code \(number: UInt32(clamping: code))")
            return code == PAM_BUF_ERR ? PAM_BUF_ERR : PAM_SYSTEM_ERR
        }
    }
}

extension LoginDenial {
    /// The PAM code, as in the table of return codes in docs/admin/CONFIGURATION.md.
    fileprivate var code: Int32 {
        switch reason {
        case .noMatch: return PAM_MAXTRIES
        case .lockedForNow, .lockedUntilPassword:
            return mismatches > 0 ? PAM_MAXTRIES : PAM_AUTHINFO_UNAVAIL
        // The server was asked and refused, or the proof is no longer valid.
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
            .serverKeyInvalidated, .serverTooLongAgo, .serverLost, .serverBusy, .clockSetBack,
            .passwordOnly, .settingsNotUnderstood:
            return mismatches > 0 ? PAM_AUTH_ERR : PAM_AUTHINFO_UNAVAIL
        }
    }
}

extension LoginDenialReason {
    /// Whether a valid proof was refused afterwards: the process may have been held up, or the
    /// state of the account or machine changed. This raises an alert.
    fileprivate var isAlarming: Bool { self == .answerTooLate || self == .changedMeanwhile }

    /// Whether nothing is shown.
    ///
    /// A lasting obstacle is reported at a terminal, where one line does no harm, but not at every
    /// login of a desktop. Users who never enrolled are told nothing.
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
            .serverTooLongAgo, .serverLost, .serverBusy, .clockSetBack, .passwordOnly,
            .settingsNotUnderstood:
            false
        }
    }
}

extension Text.Interpolation {
    /// Appends fixed text of the module's own source.
    mutating func appendInterpolation(literal: StaticString) {
        appendInterpolation(literal.bytes)
    }
}
