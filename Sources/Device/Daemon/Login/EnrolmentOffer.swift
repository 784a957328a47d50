// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Posix
import SignedFormats
import State

/// Tells an account without fingers that it could enrol one.
///
/// The notice is sent after a login with the password in a place where a finger would have been
/// asked for, and at most once a day.
extension Logins {
    /// Sends the notice if one is due, and records on disk that it was sent.
    func offer(
        _ request: OfferRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let done = Answer.done(DoneAnswer())
        // Root has fingers only rarely, and its logins are often not those of a person who could
        // use the notice.
        guard account.uid != 0, try mayBeOffered(account) else { return done }
        let presence = try await guards.admit(plan(request, account: account), client: client)
        // A requester who may ask for another account's touch must not learn what that account has
        // enrolled.
        guard !presence.isForOther, !Task.isCancelled else { return done }
        try accounts.reading(account) { () throws(StoreFault) in
            var offers = try state.offers()
            offers.note(account.uid, at: accounts.instant.seconds)
            try state.keep(offers)
        }
        client.post(.notice(Notice(.offer)))
        return done
    }

    /// Whether the account has no finger and has not been told within the last day.
    private func mayBeOffered(_ account: Account) throws(Denial) -> Bool {
        try accounts.reading(account) { () throws(StoreFault) in
            if try accounts.kept(account)?.prints.count() ?? 0 > 0 { return false }
            return try state.offers().isDue(account.uid, at: accounts.instant.seconds)
        }
    }

    /// The plan by which a login would be examined. A request without a terminal must come from a
    /// seat.
    func plan(_ request: OfferRequest, account: Account) -> TouchPlan {
        TouchPlan(
            rule: .offer, account: account, tries: 0, timeout: .zero, end: clock.sinceBoot(),
            login: AuthenticateRequest(
                account: request.account, challenge: [], service: request.service,
                timeoutMilliseconds: 0, maximumTries: 0,
                presence: request.presence, background: .refuse))
    }
}
