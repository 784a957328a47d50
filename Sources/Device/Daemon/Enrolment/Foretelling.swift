// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

extension FingerChanges {
    /// Finds out what a change of an account's fingers will do.
    ///
    /// A credential that no longer fits the fingers is destroyed, as before a login. Nil if the
    /// records are, or may be, those of a former account, about which nothing is disclosed.
    func forecast(
        _ change: ForetoldChange, of account: Account
    ) throws(Denial) -> ChangeForecast? {
        try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.keptIfOwn(account) else {
                guard try accounts.keptOfAnyone(account) == nil else { return nil }
                return ChangeForecast(change: change, prints: [], effects: [])
            }
            let enrolment = try kept.prints.enrolmentIfOpen()
            if let enrolment {
                _ = try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
            }
            return forecast(change, of: enrolment, kept: kept)
        }
    }

    /// Tells the client each effect of a change, and that this is all.
    func tell(
        _ forecast: ChangeForecast?, ending answer: ChangeForecastAnswer = ChangeForecastAnswer(),
        to client: any Client
    ) async {
        for effect in forecast?.effects ?? [] { await client.send(.of(effect)) }
        await client.send(.of(answer))
    }

    /// Throws `.notForetold` if the fingers are not those that the user was told of, or if the
    /// change would do anything that the user was not told.
    ///
    /// What has ended already is no reason: the answer reports what there was.
    func check(
        _ foretold: ChangeForecast?, of enrolment: Enrolment?, kept: AccountState
    ) throws(StoreFault) {
        guard let foretold else { return }
        let now = forecast(foretold.change, of: enrolment, kept: kept)
        guard now.prints == foretold.prints, foretold.covers(now.effects) else {
            throw .notForetold
        }
    }

    /// The same for the fingers as they are now, before anything is asked of the user for a change
    /// that would be refused.
    func check(_ foretold: ChangeForecast?, of account: Account) throws(Denial) {
        try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.keptIfOwn(account) else { return }
            try check(foretold, of: kept.prints.enrolmentIfOpen(), kept: kept)
        }
    }

    private func forecast(
        _ change: ForetoldChange, of enrolment: Enrolment?, kept: AccountState
    ) -> ChangeForecast {
        ChangeForecast(
            change: change, prints: enrolment?.identifiers,
            effects: holdings.effects(of: change, on: kept, fitting: enrolment?.state))
    }
}

extension Enrolment {
    /// Which prints there are, intact or not.
    var identifiers: Set<PrintID> {
        Set(prints.map(\.identifier) + damaged.map(\.identifier))
    }
}
