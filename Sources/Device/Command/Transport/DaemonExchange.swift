// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// One request and all of its answers, including the password if the daemon asks for it.
///
/// On a signal it cancels the request and waits for its end, because the daemon may have completed
/// it already. If a server may have carried it out, the fault is `.interruptedAsking`, which tells
/// the user how to find out.
struct DaemonExchange {
    /// Whether more answers are expected.
    enum Step {
        case goOn
        case finished
    }

    let environment: CommandEnvironment
    let request: Request
    var password = PasswordSource.terminal
    /// What the password is for, said before each prompt for it; nil if the prompt says enough.
    var passwordPurpose: Text?
    /// Whether the request awaits a touch, so that answers may take long.
    var awaitsTouch = false
    /// Whether the request awaits a server, so that answers may take long.
    var awaitsServer = false
    /// The secret to send, or the buffer for the one that is released.
    var secret: SecretBuffer?
    /// Whether a progress line is drawn, whose owner also ends it after Ctrl-C.
    var isDrawn = false

    /// Slightly more than the longest configurable time of an enrolment.
    private static let touchLimit = Duration.seconds(615)
    /// Slightly more than the longest time for checking a password.
    private static let passwordLimit = Duration.seconds(315)
    private static let tries = 3

    /// Sends the request and passes each answer to `take`, until that returns `.finished`.
    ///
    /// A denial is thrown. If a password typed at the terminal is wrong, the whole request is
    /// repeated, up to three attempts in total.
    func run(
        _ take: (Answer) throws(CommandFault) -> Step
    ) throws(CommandFault) {
        for last in [false, false, true].suffix(password == .terminal ? DaemonExchange.tries : 1) {
            do throws(CommandFault) {
                return try attempt(take)
            } catch .denied(let denial, let account) where denial.reason == .wrongPassword {
                if last { throw .denied(denial, account: account) }
                environment.complain(DaemonExchangeMessages.tryAgain)
            }
        }
    }

    private func attempt(_ take: (Answer) throws(CommandFault) -> Step) throws(CommandFault) {
        let opening = try encoded(request)
        let connection = try DaemonConnection.open(environment)
        try connection.send(opening)
        var limit = awaitsServer ? DaemonExchange.passwordLimit : environment.answerLimit
        var asked: ServerURL?
        // The first `preparing` notice only proves that the daemon is there. The second is shown, as
        // preparing takes long, and the others say no more than that the daemon is still there.
        var preparations = 0
        var isWaiting = false
        var isHeard = false
        while true {
            let answer: Answer
            do throws(CommandFault) {
                let next = try self.answer(over: connection, within: limit) {
                    if !isHeard { environment.complain(DaemonExchangeMessages.late) }
                }
                isHeard = true
                guard let next else { continue }
                answer = next
            } catch .interrupted {
                // The terminal has echoed '^C'.
                if !isDrawn && environment.isAtTerminal() { environment.errors([10]) }
                return try cancel(connection, before: asked, take)
            }
            switch answer {
            case .passwordWanted(let account):
                try connection.send(try packet(for: account))
                limit = awaitsTouch ? DaemonExchange.touchLimit : DaemonExchange.passwordLimit
            case .secretWanted:
                try sendSecret(over: connection)
                limit = DaemonExchange.passwordLimit
            case .denial(let denial): throw .denied(denial, account: request.account ?? .none)
            case .notice(let notice) where notice.kind == .preparing && preparations != 1:
                preparations += 1
                limit = limitBetween
            // Who sends a request without a touch expects no notice of this kind.
            case .notice(let notice) where notice.kind == .tpm && !awaitsTouch:
                if !isWaiting, let text = notice.text { environment.complain(text) }
                isWaiting = true
                limit = max(limit, limitBetween)
            default:
                if case .notice(let notice) = answer, notice.kind == .preparing {
                    preparations += 1
                }
                asked = answer.serverAsked(before: asked)
                let step: Step
                do throws(CommandFault) { step = try take(answer) } catch .interrupted {
                    return try cancel(connection, before: asked, take)
                }
                if case .finished = step { return }
                if case .notice(let notice) = answer, notice.wantsAcknowledgement {
                    try connection.send(try encoded(.shown))
                }
                limit = limitBetween
            }
        }
    }

    /// The maximum time between two answers.
    private var limitBetween: Duration {
        if awaitsTouch { return DaemonExchange.touchLimit }
        return awaitsServer ? DaemonExchange.passwordLimit : environment.answerLimit
    }

    /// Receives the next answer; nil if it was a part of a secret, which is appended to `secret`.
    private func answer(
        over connection: borrowing DaemonConnection, within limit: Duration,
        late: () -> Void = {}
    ) throws(CommandFault) -> Answer? {
        var packet = try connection.packet(within: limit, late: late)
        defer { wipe(&packet) }
        do throws(WireFault) {
            if let range = try SecretPartFrame.range(.released, in: packet) {
                guard awaitsTouch, let secret, secret.append(packet[range]) else {
                    throw .unexpectedField
                }
                return nil
            }
        } catch { throw .fault(CommonMessages.malformed) }
        return try DaemonConnection.decode(packet)
    }

    private func sendSecret(over connection: borrowing DaemonConnection) throws(CommandFault) {
        guard !awaitsTouch, let secret else { throw .fault(CommonMessages.unexpected) }
        var start = 0
        while start < secret.count {
            let count = SecretPartFrame.count(ofNext: secret.count - start)
            try connection.send(secret.packet(start..<(start + count)))
            start += count
        }
    }

    /// Cancels the request and waits for its end, because it may have been completed already.
    private func cancel(
        _ connection: borrowing DaemonConnection, before: ServerURL?,
        _ take: (Answer) throws(CommandFault) -> Step
    ) throws(CommandFault) {
        drain(environment.interrupts)
        var asked = before
        do throws(CommandFault) {
            try connection.send(try encoded(.cancel))
            while true {
                guard let answer = try answer(over: connection, within: environment.answerLimit)
                else { continue }
                asked = answer.serverAsked(before: asked)
                switch answer {
                case .denial: throw interrupted(asked)
                case .token, .signed, .authorization: throw interrupted(asked)
                case .done, .serverEnabled, .signingKey, .decided:
                    // After a cancellation no secret or signature is shown, even if it was on its
                    // way.
                    if awaitsTouch && (secret != nil || request.content is SignRequest) {
                        throw .interrupted
                    }
                    if case .finished = try take(answer) { return }
                case .notice, .assertion, .passwordWanted, .status, .print, .reader, .receipt,
                    .refusal, .signer, .chainHead, .secretPart, .secret, .secretWanted, .event,
                    .confirmed, .server, .operation, .serverTrouble:
                    continue
                // What was completed before the cancellation stays.
                case .importedPrint, .macToken: _ = try take(answer)
                case .own(let own):
                    switch own.meaning {
                    case .item: continue
                    case .change: _ = try take(answer)
                    case .release: throw interrupted(asked)
                    case .end: if case .finished = try take(answer) { return }
                    }
                }
            }
        } catch .noService {
            throw interrupted(asked)
        } catch .interrupted {
            throw interrupted(asked)
        }
    }

    /// Returns the fault for an interruption: `.interruptedAsking` if a server may have changed
    /// something.
    private func interrupted(_ asked: ServerURL?) -> CommandFault {
        guard let server = asked else { return .interrupted }
        switch request.content.interruption {
        case .none: return .interrupted
        case .unknown: return .interruptedAsking(DaemonExchangeMessages.interruptedAsking(server))
        case .shown(let command):
            return .interruptedAsking(
                DaemonExchangeMessages.interruptedAsking(server, see: command.bytes))
        }
    }

    private func packet(for account: AccountName) throws(CommandFault) -> Bytes {
        guard account == request.account else {
            throw .fault(DaemonExchangeMessages.foreignPassword(account))
        }
        if let passwordPurpose, password == .terminal { environment.complain(passwordPurpose) }
        return try password.packet(for: account, in: environment)
    }

    private func encoded(_ request: Request) throws(CommandFault) -> Bytes {
        do throws(WireFault) {
            return try request.encoded()
        } catch .malformedValue {
            throw .usage(DaemonExchangeMessages.badAccount(request.account ?? .none))
        } catch { throw .usage(DaemonExchangeMessages.badValue) }
    }
}

extension Answer {
    /// The server that may have acted on the request after this answer; nil after a touch was asked
    /// for, because the touch precedes the server's action.
    fileprivate func serverAsked(before: ServerURL?) -> ServerURL? {
        // An operation is shown first, and decided only afterwards.
        if case .operation = self { return nil }
        guard case .notice(let notice) = self else { return before }
        switch notice.kind {
        // Its subject is the server's URL.
        case .askingServer: return notice.subject.map { ServerURL($0) }
        case .touch: return nil
        case .waiting, .retry, .noMatch, .stage, .fingerPresent, .fingerGone, .passwordStale,
            .contended, .preparing, .printLost, .offer, .tpm:
            return before
        }
    }
}

/// Messages about exchanges with the daemon.
enum DaemonExchangeMessages {
    /// The daemon has not answered yet; it may be starting.
    static let late: Text =
        "the fingerprint service has not answered yet: waiting for it. Press Ctrl-C to stop"

    /// A name cannot be an account's name.
    static func badAccount(_ name: AccountName) -> Text {
        "\(name) is not a valid account name"
    }

    /// A value is too long.
    static let badValue: Text = "a value is too long"
    /// The user pressed ^C while a server was asked.
    static func interruptedAsking(_ server: ServerURL) -> Text {
        "interrupted: \(server) may already have carried out the request"
    }

    /// The user pressed ^C while a server was asked; with the command that shows the result.
    static func interruptedAsking(_ server: ServerURL, see command: Bytes) -> Text {
        "interrupted: \(server) may already have carried out the request. See 'signet \(command)'"
    }

    /// Another try.
    static let tryAgain: Text = "the password was wrong: try again"
    /// The daemon asked for a password that the request does not need.
    static func foreignPassword(_ account: AccountName) -> Text {
        """
        the fingerprint service unexpectedly asked for the password of \(account). The password \
        was not sent
        """
    }
}
