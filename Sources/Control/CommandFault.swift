// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol
import Posix

/// Why a command did not do what it was told.
enum CommandFault: Error, Equatable {
    case usage(Text)
    case noService(Text)
    case fault(Text)
    case password(Text)
    case denied(Denial, account: Bytes)
    /// No, by this program's own judgement.
    case refused(Text)
    case interrupted
    /// Interrupted while a server was asked, which may have done it.
    case interruptedAsking(Text)
    /// No, and everything was said already.
    case said(ExitCode)

    /// What to tell the person; nil if everything was said.
    var text: Text? {
        switch self {
        case .usage(let text), .noService(let text), .fault(let text), .password(let text),
            .refused(let text), .interruptedAsking(let text):
            text
        case .denied(let denial, let account): denial.text(account: account)
        case .interrupted: CommandText.interrupted
        case .said: nil
        }
    }

    /// How the program ends.
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

    /// A word for programs, in JSON.
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

    /// A system call failed.
    static func system(_ fault: SystemFault) -> CommandFault {
        .fault(CommandText.failed(fault.description.bytes))
    }
}

extension Denial {
    /// How a program ends that was told this.
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
            .passwordExpired:
            .denied
        }
    }
}
