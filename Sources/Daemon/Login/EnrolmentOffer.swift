// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Policy
import Posix
import SignedFormats
import Store

/// The word to an account without fingers that it could enrol one: after a login with the password,
/// where a finger would have been asked for, and once a day.
extension Logins {
    /// Sends the notice where it is to be said, and notes that it was.
    func offer(
        _ request: OfferRequest, _ account: Account, _ client: any Client
    ) async throws(Denial) -> Answer {
        let done = Answer.done(DoneAnswer())
        // Root's fingers are few, and its logins not those of a person who wants to be told.
        guard account.uid != 0, try mayBeOffered(account) else { return done }
        let presence = try await guards.admit(plan(request, account), by: VerbTable.offer, client)
        // Who may ask for another account's touch is not told what that account has.
        guard !presence.isForOther, !Task.isCancelled else { return done }
        try accounts.reading(account) { () throws(StoreFault) in
            var offers = try state.offers()
            offers.note(account.uid, at: accounts.instant.seconds)
            try state.keep(offers)
        }
        client.post(.notice(Notice(.offer)))
        return done
    }

    /// Whether the account has no finger, and was not told in the last day.
    private func mayBeOffered(_ account: Account) throws(Denial) -> Bool {
        try accounts.reading(account) { () throws(StoreFault) in
            if try accounts.kept(account)?.prints.count() ?? 0 > 0 { return false }
            return try state.offers().isDue(account.uid, at: accounts.instant.seconds)
        }
    }

    /// What a login would be examined by. A request without a terminal must come from a seat.
    func plan(_ request: OfferRequest, _ account: Account) -> TouchPlan {
        TouchPlan(
            verb: .offer, account: account, tries: 0, timeout: .zero, end: clock.sinceBoot(),
            login: AuthenticateRequest(
                account: request.account, challenge: [], service: request.service,
                timeoutMilliseconds: 0, maximumTries: 0,
                presence: request.presence, background: .refuse))
    }
}
