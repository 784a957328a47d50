// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// What the user has confirmed a request with: the evidence that opens the keys for it.
enum Confirmation: Sendable {
    /// A finger has matched.
    case finger(Touch<ScannedFinger>)
    /// The account's password was given in place of a finger.
    case password(PasswordProof<VerifiedPassword>)

    /// What the user was asked for.
    var confirmingFactor: ConfirmingFactor {
        switch self {
        case .finger: .finger
        case .password: .password
        }
    }

    /// The factor as statements name it.
    var factor: Bytes {
        switch self {
        case .finger: Factor.fingerprint
        case .password: Factor.password
        }
    }
}

/// Has the user confirm a request for a server, with a finger or with the account's password.
///
/// A touch goes through `Touches`, with its receipt. A password goes through the gate for passwords:
/// it needs no reader, leaves no receipt, since the account's credential signs only for a finger,
/// and is recorded in the journal instead. The presence rules are those of the touch.
@ServiceActor
final class Confirmations {
    let logind: Logind
    let passwords: PasswordGate<PasswordChecker>
    let accounts: Accounts
    let credentials: Credentials
    let guards: TouchGuards
    let touches: Touches

    init(
        logind: Logind, passwords: PasswordGate<PasswordChecker>, accounts: Accounts,
        credentials: Credentials, guards: TouchGuards, touches: Touches
    ) {
        self.logind = logind
        self.passwords = passwords
        self.accounts = accounts
        self.credentials = credentials
        self.guards = guards
        self.touches = touches
    }
}

extension Confirmations {
    /// Checks the guards, has the user confirm the request, and then runs `body` in the same
    /// request.
    ///
    /// `body` gets the account's current records and the evidence. Throws what `Touches.afterTouch`
    /// or `PasswordGate.password` throws, `suspending` if the machine was suspended meanwhile, and
    /// the denial of the first guard that does not pass.
    func confirmed(
        _ plan: TouchPlan, by factor: ConfirmingFactor, matter: SignedMatter, client: any Client,
        _ body: (AccountSnapshot, Confirmation) async throws(Denial) -> Answer
    ) async throws(Denial) -> Answer {
        switch factor {
        case .finger:
            return try await touches.afterTouch(plan, matter: matter, client: client) {
                (snapshot, touch) throws(Denial) in
                try await body(snapshot, .finger(touch))
            }
        case .password:
            let presence = try await guards.admitPassword(plan, client: client)
            let proof = try await password(plan.account, presence: presence, client: client)
            if logind.hasSlept(since: proof.suspensions) { throw Denial(.suspending) }
            return try await body(
                try credentials.revokingSnapshot(of: plan.account), .password(proof))
        }
    }

    /// Asks for the password in place of a finger; a right one lifts the lockout, as elsewhere.
    private func password(
        _ account: Account, presence: Presence, client: any Client
    ) async throws(Denial) -> PasswordProof<VerifiedPassword> {
        let snapshot = try credentials.revokingSnapshot(of: account)
        let ledger = accounts.lockoutLedger(of: account, kept: snapshot.kept, trying: .password)
        let proof = try await passwords.password(
            of: account.uid, query: PasswordQuery(account: account, client: client),
            presence: presence, counting: ledger)
        // A disk fault is logged; the attempt then stays counted.
        do throws(Denial) { try proof.attempt.succeeded() } catch { _ = error }
        return proof
    }
}
