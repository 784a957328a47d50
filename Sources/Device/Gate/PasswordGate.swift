// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

// This is the only file that can create a `PasswordMatch`, because the initialiser is
// `fileprivate`. Vaults sign with password keys only for a `PasswordMatch`. To review whether one
// can be forged, read `PasswordGate.password` and what it calls.

/// Evidence that the password of one account was given for one request, and accepted.
///
/// `PasswordGate.password` creates it after the judge has accepted the password, while the attempt
/// still counts as failed on disk. It cannot be copied and lives in one `PasswordProof`, so that
/// one password serves one request. Vaults check the account and the age before they sign for it;
/// they never open for it what is sealed to fingers, nor for a `Match` what is sealed to a
/// password.
package struct PasswordMatch: ~Copyable, Sendable {
    /// The account whose password it is.
    package let account: UInt32
    /// Evidence of who gave the password and from where.
    package let presence: Presence
    /// The time of the verdict since boot (CLOCK_BOOTTIME, which includes time spent suspended).
    private let moment: Duration
    private let clock: Clock

    /// The time since the verdict.
    package var age: Duration { clock.sinceBoot() - moment }

    fileprivate init(account: UInt32, presence: Presence, clock: Clock) {
        self.account = account
        self.presence = presence
        self.clock = clock
        moment = clock.sinceBoot()
    }
}

/// The result of an accepted password: the match, what the judge reports of it, and the open
/// attempt.
///
/// Only `PasswordGate.password` creates one. The request must settle `attempt`, otherwise it
/// remains counted as a failure.
package final class PasswordProof<Verified: Sendable>: Sendable {
    /// The match; vaults sign with password keys for it.
    package let match: PasswordMatch
    /// The password, in the judge's representation.
    package let verified: Verified
    /// The attempt, recorded on disk as a failure until the request settles it.
    package let attempt: any LockoutAttempt
    /// The value of `SuspendState.suspensions` when the password was asked for.
    package let suspensions: UInt64

    fileprivate init(
        _ match: consuming PasswordMatch, verified: Verified, attempt: any LockoutAttempt,
        suspensions: UInt64
    ) {
        self.match = match
        self.verified = verified
        self.attempt = attempt
        self.suspensions = suspensions
    }
}

/// Asks for a password and has it checked.
///
/// The daemon has one implementation, which has libpam check it in a separate process. The gate
/// trusts its verdict: a value other than nil makes a `PasswordMatch`.
package protocol PasswordJudge: Sendable {
    /// The account, and the client that is asked.
    associatedtype Query: Sendable
    /// A password as it was typed.
    associatedtype Typed: Sendable
    /// A password that was accepted.
    associatedtype Verified: Sendable
    /// Asks for the password; throws `timedOut` or `cancelled` if none was given.
    @ServiceActor func typed(for query: Query) async throws(Denial) -> Typed
    /// Checks a password; returns nil if it is wrong.
    ///
    /// The verdict is returned even if the request was cancelled meanwhile, since a wrong password
    /// counts then, too. Throws a denial if the password was not judged.
    @ServiceActor func verified(
        _ typed: Typed, for query: Query
    ) async throws(Denial) -> Verified?
}

/// The only way from a request to a password that confirms it in place of a finger.
///
/// The gate re-examines presence, counts the attempt on disk before the password is checked, and
/// creates the `PasswordMatch`. It needs no turn, since it uses no reader; the judge checks one
/// password of an account at a time. The daemon creates a single gate, on its checker of passwords;
/// `checks/imports` enforces that.
@ServiceActor
package final class PasswordGate<Judge: PasswordJudge> {
    private let judge: Judge
    private let examiner: PresenceExaminer
    private let machine: any SuspendState
    private let clock: Clock

    /// Creates a gate for a judge of passwords.
    package init(
        _ judge: Judge, examiner: PresenceExaminer, machine: any SuspendState, clock: Clock
    ) {
        self.judge = judge
        self.examiner = examiner
        self.machine = machine
        self.clock = clock
    }

    /// Asks for the account's password, has it checked, and returns the evidence.
    ///
    /// The attempt is recorded on disk as a failure after the password was typed and before it is
    /// checked, so that killing the daemon forgives none. One that was not judged is taken back. A
    /// wrong password counts even if the client has gone. The attempt of a right one still counts
    /// as a failure; the caller must settle it.
    ///
    /// - Parameters:
    ///   - account: The uid of the account.
    ///   - presence: Evidence that the requester is at the machine. It is examined again before the
    ///     password is asked for, and after the verdict.
    ///   - ledger: The failed attempts of the account.
    /// - Throws: `notPermitted` if the presence is for another account; `wrongPassword`; the
    ///   lockout that a wrong password has caused; `suspending`, `cancelled`; `changedMeanwhile` if
    ///   presence no longer holds after the verdict; also what the first examination, the ledger
    ///   and the judge throw.
    package func password(
        of account: UInt32, query: Judge.Query, presence: Presence,
        counting ledger: any LockoutLedger
    ) async throws(Denial) -> PasswordProof<Judge.Verified> {
        guard presence.account == account else { throw Denial(.notPermitted) }
        if machine.isSuspending { throw Denial(.suspending) }
        try examiner.examine(presence)
        try ledger.check()
        let suspensions = machine.suspensions
        let typed = try await judge.typed(for: query)
        // While the password was typed, fingers or another request may have failed.
        try ledger.check()
        let attempt = try ledger.begin()
        let verified: Judge.Verified?
        do throws(Denial) {
            verified = try await judge.verified(typed, for: query)
        } catch {
            attempt.takeBack()
            throw error
        }
        guard let verified else {
            try attempt.failed()
            throw Denial(.wrongPassword)
        }
        let match = PasswordMatch(account: account, presence: presence, clock: clock)
        do throws(Denial) {
            // A client that left during the check cannot use the result.
            if Task.isCancelled { throw Denial(.cancelled) }
            if machine.isSuspending { throw Denial(.suspending) }
            try examiner.confirm(presence)
        } catch {
            attempt.takeBack()
            throw error
        }
        return PasswordProof(
            match, verified: verified, attempt: attempt, suspensions: suspensions)
    }
}
