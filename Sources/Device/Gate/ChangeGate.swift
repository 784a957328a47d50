// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

// This is the only file that can create an `AuthorizedChange`, because the initialiser is
// `fileprivate`. Vaults seal a key to other fingers only for one. To review whether one can be
// forged, read `ChangeGate.authorized` and the judges, of which there are two: the checker of
// passwords and polkit's.

/// Evidence that a change of one account's fingers was authorised with a password, in the request
/// that makes the change.
///
/// `ChangeGate.authorized` creates it after a judge has consented. It lives as long as its request,
/// which may change several fingers (an import). Vaults check the account and the age before they
/// seal a key again for it, and never open anything for it.
package struct AuthorizedChange: Sendable {
    /// The uid of the account whose fingers may be changed.
    package let account: UInt32
    /// The time of the authorisation since boot (CLOCK_BOOTTIME, which includes time spent
    /// suspended).
    private let moment: Duration
    private let clock: Clock

    /// The time since the authorisation.
    package var age: Duration { clock.sinceBoot() - moment }

    fileprivate init(account: UInt32, clock: Clock) {
        self.account = account
        self.clock = clock
        moment = clock.sinceBoot()
    }
}

/// Decides whether a change of fingers is authorised by a password that was given for it.
///
/// The gate trusts its verdict: a value other than nil makes an `AuthorizedChange`.
/// `checks/imports` lists the judges.
package protocol ChangeJudge: Sendable {
    /// Who asks, and about what.
    associatedtype Query: Sendable
    /// What else the judge knows of a change that it authorises.
    associatedtype Consent: Sendable
    /// Asks for the password, or has it asked for, and returns nil unless it was right and given
    /// just now.
    ///
    /// Throws the denial of what keeps it from deciding, which also ends the request.
    @ServiceActor func consent(to query: Query) async throws(Denial) -> Consent?
}

/// The only way to an `AuthorizedChange`.
@ServiceActor
package enum ChangeGate {
    /// Asks a judge, and returns its consent with the evidence; nil if it does not consent.
    ///
    /// - Parameter account: The uid of the account whose fingers are to be changed, and which the
    ///   query must be about.
    package static func authorized<Judge: ChangeJudge>(
        of account: UInt32, query: Judge.Query, by judge: Judge, clock: Clock
    ) async throws(Denial) -> (change: AuthorizedChange, consent: Judge.Consent)? {
        guard let consent = try await judge.consent(to: query) else { return nil }
        return (AuthorizedChange(account: account, clock: clock), consent)
    }
}
