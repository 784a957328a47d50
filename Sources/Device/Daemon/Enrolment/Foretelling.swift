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
    /// account has no records, or they are those of a former account: nobody is told of those.
    func forecast(
        _ change: ForetoldChange, of account: Account
    ) throws(Denial) -> ChangeForecast? {
        try accounts.reading(account) { () throws(StoreFault) in
            guard let kept = try accounts.keptIfOwn(account) else { return nil }
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
        let isForetold = now.effects.allSatisfy { effect in
            foretold.effects.contains { $0.covers(effect) }
        }
        guard now.prints == foretold.prints, isForetold else { throw .notForetold }
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

extension ChangeEffectAnswer {
    /// Whether this is the same effect, on as many things or more.
    fileprivate func covers(_ other: ChangeEffectAnswer) -> Bool {
        holding == other.holding && subject == other.subject && name == other.name
            && stays == other.stays && (count ?? 0) >= (other.count ?? 0)
    }
}
