import Posix
import Texts
import Wire

/// One request and all its answers, the password included where the daemon wants it.
struct Exchange {
    /// What to do with an answer.
    enum Step {
        case goOn
        case finished
    }

    let surroundings: Surroundings
    let request: Request
    var password = PasswordSource.terminal
    /// Whether somebody has to touch the reader meanwhile.
    var awaitsTouch = false

    /// A little more than the longest that an enrolment may take by configuration.
    private static let touchLimit = Duration.seconds(615)
    /// The same for the check of a password.
    private static let passwordLimit = Duration.seconds(315)
    private static let tries = 3

    /// Asks, and hands over each answer until `take` says that it was the last.
    ///
    /// A denial is thrown. After a wrong password the request is made anew, three times at most.
    func run(
        _ take: (Answer) throws(CommandFault) -> Step
    ) throws(CommandFault) {
        for last in [false, false, true].suffix(password == .terminal ? Exchange.tries : 1) {
            do throws(CommandFault) {
                return try attempt(take)
            } catch .denied(let denial, let account) where denial.reason == .wrongPassword {
                if last { throw .denied(denial, account: account) }
                surroundings.complain(CommandText.tryAgain)
            }
        }
    }

    private func attempt(_ take: (Answer) throws(CommandFault) -> Step) throws(CommandFault) {
        let opening = try encoded(request)
        let connection = try Connection.open(surroundings)
        try connection.send(opening)
        var limit = surroundings.answerLimit
        while true {
            let answer: Answer
            do throws(CommandFault) {
                answer = try connection.answer(within: limit)
            } catch .interrupted {
                return try cancel(connection, take)
            }
            if case .passwordWanted(let account) = answer {
                try connection.send(try packet(for: account))
                limit = awaitsTouch ? Exchange.touchLimit : Exchange.passwordLimit
                continue
            }
            if case .finished = try handle(answer, take) { return }
            limit = awaitsTouch ? Exchange.touchLimit : surroundings.answerLimit
        }
    }

    private func handle(
        _ answer: Answer, _ take: (Answer) throws(CommandFault) -> Step
    ) throws(CommandFault) -> Step {
        guard case .denial(let denial) = answer else { return try take(answer) }
        throw .denied(denial, account: request.account ?? [])
    }

    /// Takes the request back and waits for its end: it may be done already.
    private func cancel(
        _ connection: borrowing Connection, _ take: (Answer) throws(CommandFault) -> Step
    ) throws(CommandFault) {
        drain(surroundings.interrupts)
        do throws(CommandFault) {
            try connection.send(try encoded(.cancel))
            while true {
                let answer = try connection.answer(within: surroundings.answerLimit)
                switch answer {
                case .denial: throw .interrupted
                case .done:
                    if case .finished = try take(answer) { return }
                case .notice, .assertion, .passwordWanted, .status, .print, .reader, .receipt,
                    .signer, .setting, .chainHead, .secretPart, .secret, .vault:
                    continue
                }
            }
        } catch .noService { throw .interrupted }
    }

    private func packet(for account: Bytes) throws(CommandFault) -> Bytes {
        guard account == request.account else {
            throw .fault(CommandText.foreignPassword(account))
        }
        return try password.packet(for: account, in: surroundings)
    }

    private func encoded(_ request: Request) throws(CommandFault) -> Bytes {
        do throws(WireFault) {
            return try request.encoded()
        } catch .malformedValue {
            throw .usage(CommandText.badAccount(request.account ?? []))
        } catch { throw .usage(CommandText.badValue) }
    }
}
