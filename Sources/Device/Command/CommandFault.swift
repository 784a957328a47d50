// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import Posix

/// Why a command failed; it determines the message, the exit code and the `reason` in JSON.
enum CommandFault: Error, Equatable {
    case usage(Text)
    case noService(Text)
    case fault(Text)
    case password(Text)
    case denied(Denial, account: AccountName)
    /// Refused by this program itself, not by the daemon.
    case refused(Text)
    case interrupted
    /// Interrupted after a server was asked, which may have carried out the request.
    case interruptedAsking(Text)
    /// The command failed, and everything was printed already.
    case said(ExitCode)

    /// The message for the user; nil if everything was printed.
    var text: Text? {
        switch self {
        case .usage(let text), .noService(let text), .fault(let text), .password(let text),
            .refused(let text), .interruptedAsking(let text):
            text
        case .denied(let denial, let account): denial.text(account: account)
        case .interrupted: CommonMessages.interrupted
        case .said: nil
        }
    }

    /// The exit code of the program.
    var exitCode: ExitCode {
        switch self {
        case .usage: .usage
        case .noService: .noService
        case .fault: .fault
        case .password: .wrongPassword
        case .denied(let denial, _): denial.exitCode
        case .refused: .denied
        case .interrupted, .interruptedAsking: .interrupted
        case .said(let code): code
        }
    }

    /// The `reason` in JSON.
    var reason: String {
        switch self {
        case .usage: "usage"
        case .noService: "no-service"
        case .fault: "fault"
        case .password: "no-password"
        case .denied(let denial, _): denial.reason.word
        case .refused, .said: "refused"
        case .interrupted: "interrupted"
        case .interruptedAsking: "interrupted-asking"
        }
    }

    /// The fault for a failed system call.
    static func system(_ fault: SystemFault) -> CommandFault {
        .fault(CommonMessages.failed(fault.description.bytes))
    }
}

extension Denial {
    /// The exit code of a command whose request was denied.
    var exitCode: ExitCode {
        switch reason {
        case .wrongPassword, .noPassword: .wrongPassword
        case .vaultUnavailable, .fingersClosed, .passwordCheckFailed, .storage, .readerFailed,
            .readerConfused,
            .badRequest:
            .fault
        case .tooManyRequests, .stopping, .suspending, .serverUnreachable,
            .serverTooLongAgo, .serverLost, .serverBusy, .clockSetBack:
            .noService
        case .notEnrolled, .notEnabled, .invalidated, .lockedForNow, .lockedUntilPassword,
            .printLost, .readerFull, .fingerOnReader, .noReader, .readerRemoved, .readerTooHot,
            .readerBusy, .noMatch, .timedOut,
            .cancelled, .remoteSession, .lidClosed, .otherSeat, .queueFull, .notPermitted,
            .unknownAccount, .fingerNotEnrolled, .fingerKnown, .tooManyFingers, .unknownFinger,
            .platformChanged, .secretExists, .unknownSecret, .secretStale, .tooManySecrets,
            .notServed, .inBackground, .notAtMachine, .otherRequester, .answerTooLate,
            .changedMeanwhile, .enrolmentPaused, .enrolmentLocked, .enrolmentYielded,
            .serverRefused,
            .activationRefused, .unknownServer, .knownServer, .serverKeyInvalidated,
            .serverKeyReplaced, .serverKeyRemoved,
            .serverKeyBlocked, .tooManyServers, .noSigningKey, .signingKeyInvalidated,
            .signingKeyExists, .unknownMacToken, .tooManyMacTokens, .readingTokenWanted,
            .unknownOperation, .operationOver, .printsDamaged, .accountExpired,
            .passwordExpired, .notAttestable, .noPasswordKey, .passwordKeyStale,
            .passwordElsewhere, .passwordNotAccepted, .fingerNotAccepted, .unknownSession,
            .sessionOver, .sessionsUnknown, .sshHandleMalformed, .sshHandleOfOtherMachine,
            .sshHandleOfOtherAccount, .unknownSshKey, .sshKeyInvalidated, .sshKeyExists,
            .tooManySshKeys, .sshDataRefused, .sshOtherKey, .sshApplicationRefused, .passwordOnly,
            .sshGrantsOff, .settingsNotUnderstood, .accountNameUnusable:
            .denied
        }
    }
}
