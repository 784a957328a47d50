// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import Posix
import SignedFormats
import State

/// Tells the user of an account without fingers that one could be enrolled.
///
/// The PAM module requests the notice after a login with the password, in a service and place where
/// Signet would have asked for a finger. An account gets it at most once a day
/// (`EnrolmentOffers.interval`), and root never does. Only root may make the request, since the
/// answer could reveal who has enrolled a finger.
extension PAMLogins {
    /// Sends the notice if one is due, after recording on disk that it was sent.
    ///
    /// The guards of a login apply, except for the credential; no finger is asked for. The answer
    /// is `done` whether or not the notice was sent. Throws the denial of the first guard that does
    /// not pass, or a storage fault.
    func offer(
        _ request: OfferRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let done = Answer.done(DoneAnswer())
        // Root rarely has fingers, and often no person who could act on the notice is behind its
        // logins.
        guard account.uid != 0, try mayBeOffered(account) else { return done }
        let presence = try await guards.admit(plan(request, account: account), client: client)
        // Requesters who may ask for a touch of another account must not learn whether that account
        // has enrolled a finger.
        guard !presence.isForOther, !Task.isCancelled else { return done }
        try accounts.reading(account) { () throws(StoreFault) in
            var offers = try state.offers()
            offers.note(account.uid, at: accounts.instant.seconds)
            try state.keep(offers)
        }
        client.post(.notice(Notice(.offer)))
        return done
    }

    /// Whether the account has no finger and has not been sent the notice within the last day.
    private func mayBeOffered(_ account: Account) throws(Denial) -> Bool {
        try accounts.reading(account) { () throws(StoreFault) in
            if try accounts.kept(account)?.prints.count() ?? 0 > 0 { return false }
            return try state.offers().isDue(account.uid, at: accounts.instant.seconds)
        }
    }

    /// Returns a plan with which `TouchGuards` examines the request like a login.
    ///
    /// Its times are zero, because no finger is awaited. Background requests are always refused:
    /// one without a terminal must come from a session at a seat. Nothing is signed, so the
    /// challenge is zero.
    func plan(_ request: OfferRequest, account: Account) -> TouchPlan {
        TouchPlan(
            rule: .offer, account: account, tries: 0, timeout: .zero,
            login: AuthenticateRequest(
                account: request.account, challenge: .zero, service: request.service,
                timeoutMilliseconds: 0, maximumTries: 0,
                presence: request.presence, background: .refuse))
    }
}
