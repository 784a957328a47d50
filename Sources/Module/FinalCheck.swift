// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import SignedFormats

/// The last checks of a proof, which make it good only for the present moment.
///
/// The process or the machine may have been stopped at any time since the proof was requested. The
/// daemon therefore confirms each touch once, within a second of its assertion. What happens after
/// that is detected by two clocks and by the registered key, which `checkLast` examines last. A
/// failure here is `.expired` if something changed or was too late, `.refused` if an answer is
/// wrong.
struct FinalCheck {
    private let login: Login
    /// When the login must have ended; the time for which the daemon's answer is awaited is added.
    private var deadline: Deadline
    /// The end of the two seconds in which the proof may be used, counted from reading it, and while the
    /// daemon's answer is awaited from the last moment at which this process was seen to run.
    private var end: Deadline

    /// How often, and for how many milliseconds each time, the daemon's answer is awaited: one whose
    /// disk is slow takes seconds for it.
    private static let (steps, stepMilliseconds): (Int, UInt32) = (100, 200)
    /// The time in milliseconds for which a proof may be used.
    private static let useMilliseconds: UInt32 = 2_000

    /// Starts the clock; call it as soon as a proof was read. `deadline` is that of the login.
    init(of login: Login, deadline: Deadline) {
        self.login = login
        self.deadline = deadline
        end = Deadline(milliseconds: FinalCheck.useMilliseconds)
    }

    /// Asks the daemon whether the touch is still valid.
    ///
    /// A process that is stopped meanwhile does not see the time pass in steps, and is too late.
    ///
    /// - Returns: the login password, if it was requested and released.
    /// - Throws: `.expired` for a denial, a lost connection or a late answer; `.refused` for an
    ///   answer that was not asked for.
    mutating func ask(
        _ daemon: ModuleConnection, about request: AuthenticateRequest
    ) throws(LoginFailure) -> SecretLine? {
        // An answer that is here already was sent before the question.
        guard try answer(from: daemon) == nil else {
            throw .refused("an answer arrived before the question")
        }
        do throws(LoginFailure) {
            try daemon.send(
                try? LoginRequest.confirm(account: request.account, challenge: request.challenge))
        } catch .unavailable { throw tooLate }
        var steps = FinalCheck.steps
        let left = UInt32(bitPattern: deadline.millisecondsLeft)
        while !daemon.wait(until: Deadline(milliseconds: FinalCheck.stepMilliseconds)) {
            steps -= 1
            guard steps > 0, end.millisecondsLeft > 0 else { throw tooLate }
            end = Deadline(milliseconds: FinalCheck.useMilliseconds)
            deadline = Deadline(milliseconds: left)
        }
        guard let answer = try answer(from: daemon) else { throw tooLate }
        switch answer {
        case .confirmed(let password):
            guard password != nil else { return nil }
            guard request.wantsKeyring, let password = daemon.consumePassword() else {
                throw .refused("an unrequested password arrived")
            }
            return password
        case .denial(let denial): throw .expired(denial, account: login.account)
        case .notice, .assertion: throw .refused("the answer is not a confirmation")
        }
    }

    /// Succeeds only if nothing has changed since the proof and it is recent enough.
    ///
    /// It waits for nothing, and no blocking call may follow before the login succeeds. `seconds` is the
    /// longest time since the statement.
    func checkLast(
        _ statement: Statement, registered: RegisteredKey, place: PromptContext, seconds: UInt32
    ) throws(LoginFailure) {
        guard case .key(let now)? = try? RegisteredKey.look(for: login.account, uid: login.uid),
            now.key == registered.key, now.credential == registered.credential
        else { throw .expired(LoginDenial(.changedMeanwhile), account: login.account) }
        // Otherwise the process id that the daemon examined may have belonged to another program.
        guard login.agent.map({ $0.isAlive }) ?? true else {
            throw .expired(LoginDenial(.changedMeanwhile), account: login.account)
        }
        guard !place.wasLeft else { throw .declined("the process has gone to the background") }
        guard Expectation.isCurrent(statement, at: WallClock.now, within: UInt64(seconds))
        else {
            throw .refused("the statement is not recent")
        }
        guard end.millisecondsLeft > 0, deadline.millisecondsLeft > 0 else { throw tooLate }
    }

    /// Receives an answer; a closed connection counts as a late answer, never as a confirmation.
    private func answer(from daemon: ModuleConnection) throws(LoginFailure) -> LoginAnswer? {
        do throws(LoginFailure) {
            return try daemon.receive()
        } catch .unavailable { throw tooLate }
    }

    private var tooLate: LoginFailure {
        .expired(LoginDenial(.answerTooLate), account: login.account)
    }
}
