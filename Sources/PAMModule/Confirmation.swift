// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import SignedFormats

/// What makes a proof good for this moment only: the process, or the machine, may have been stopped
/// at any point since it was asked for.
///
/// The daemon confirms a touch once, within a second of its answer. What happens after that is
/// seen by the clocks and by the registered key, which are looked at last.
struct Confirmation {
    private let login: Login
    private let deadline: Deadline
    /// Until when a proof may be used, from the moment at which it was read.
    private let end: Deadline

    /// How long the daemon may take to confirm.
    private static let answerMilliseconds: UInt32 = 1_000
    /// How long a proof may be used.
    private static let useMilliseconds: UInt32 = 2_000

    /// Begins when a proof was read; `deadline` is the login's own.
    init(of login: Login, deadline: Deadline) {
        self.login = login
        self.deadline = deadline
        end = Deadline(milliseconds: Confirmation.useMilliseconds)
    }

    /// Asks the daemon whether the touch is still valid; gives the login password, where one came.
    func ask(
        _ daemon: inout Connection, about request: AuthenticateRequest
    ) throws(LoginFailure) -> SecretLine? {
        // What is there already was sent before the question.
        guard try answer(from: &daemon) == nil else {
            throw .refused("an answer came before it was asked for")
        }
        do throws(LoginFailure) {
            try daemon.send { () throws(WireFault) in
                try LoginRequest.confirm(account: request.account, challenge: request.challenge)
            }
        } catch .unavailable { throw tooLate }
        guard daemon.wait(until: end.within(milliseconds: Confirmation.answerMilliseconds)),
            let answer = try answer(from: &daemon)
        else { throw tooLate }
        switch answer {
        case .confirmed(let password):
            guard password != nil else { return nil }
            guard request.wantsKeyring, let password = daemon.consumePassword() else {
                throw .refused("a password came that nobody asked for")
            }
            return password
        case .denial(let denial): throw .expired(denial, account: login.account)
        case .notice, .assertion: throw .refused("a proof was answered with something else")
        }
    }

    /// Succeeds only if nothing has changed since the proof and no time has passed: nothing else is
    /// waited for after this.
    func checkLast(
        _ statement: Statement, _ registered: RegisteredKey, _ place: Place, seconds: UInt32
    ) throws(LoginFailure) {
        guard case .key(let now)? = try? RegisteredKey.look(for: login.account, uid: login.uid),
            now.key == registered.key, now.credential == registered.credential
        else { throw .expired(LoginDenial(.changedMeanwhile), account: login.account) }
        // Its number may be another program's by now, which the daemon looked at in its place.
        guard login.agent.map({ $0.isAlive }) ?? true else {
            throw .expired(LoginDenial(.changedMeanwhile), account: login.account)
        }
        guard !place.wasLeft else { throw .declined("the process has gone to the background") }
        guard Expectation.isCurrent(statement, at: WallClock.now, within: UInt64(seconds)) else {
            throw .refused("the statement was not made now")
        }
        guard end.millisecondsLeft > 0, deadline.millisecondsLeft > 0 else { throw tooLate }
    }

    /// A daemon that has gone confirms nothing.
    private func answer(from daemon: inout Connection) throws(LoginFailure) -> LoginAnswer? {
        do throws(LoginFailure) {
            return try daemon.receive()
        } catch .unavailable { throw tooLate }
    }

    private var tooLate: LoginFailure { .expired(LoginDenial(.answerTooLate), account: login.account) }
}
