// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import State

/// Turns login by finger on and off, moves it to another vault, and lifts lockouts.
///
/// Enabling issues a credential for the fingers and reader contents as they are now; the user
/// vouches for them with the account's password, or root does. Disabling destroys the credential
/// and leaves the fingers enrolled.
@ServiceActor
final class Enabling {
    let journal: DecisionJournal
    let readers: ReaderPool
    let accounts: Accounts
    let credentials: Credentials
    let keyring: Keyring
    let keyringRecords: KeyringRecords
    let holdings: Holdings
    let policy: LoginPolicy
    let upkeep: ReaderUpkeep
    let sessionTokens: SessionTokens
    let coverage: StorageCoverage
    let templates: TemplateKeyOpener
    let touches: Touches

    init(
        journal: DecisionJournal, readers: ReaderPool, accounts: Accounts, credentials: Credentials,
        keyring: Keyring, keyringRecords: KeyringRecords, holdings: Holdings, policy: LoginPolicy,
        upkeep: ReaderUpkeep, sessionTokens: SessionTokens, coverage: StorageCoverage,
        templates: TemplateKeyOpener, touches: Touches
    ) {
        self.journal = journal
        self.readers = readers
        self.accounts = accounts
        self.credentials = credentials
        self.keyring = keyring
        self.keyringRecords = keyringRecords
        self.holdings = holdings
        self.policy = policy
        self.upkeep = upkeep
        self.sessionTokens = sessionTokens
        self.coverage = coverage
        self.templates = templates
        self.touches = touches
    }
}

extension Enabling {
    /// The handlers for enabling, disabling, moving to another vault, and accepted passwords.
    var handlers: [RequestHandler] {
        [
            RequestHandler(foretelling: foretell, enable),
            RequestHandler(foretelling: foretell, disable),
            RequestHandler(migrate), RequestHandler(passwordAccepted),
        ]
    }

    /// Issues a credential for the current fingers and reader contents, and sends the prints that
    /// it was sealed to.
    ///
    /// The stored login password is resealed, newly stored or dropped, as the request and the given
    /// password allow (`Keyring.settleKeyring`). The answer says which setting, if any, still keeps
    /// the account from logging in by finger. Throws as `issue`.
    func enable(
        _ request: EnableRequest, account: Account, approval: ChangeApproval, client: any Client
    ) async throws(Denial) -> Answer {
        try accounts.reading(account) { () throws(StoreFault) in
            try accounts.adopt(account, because: "enabled")
            guard let foretold = approval.foretold else { return }
            let now = try accounts.kept(account)?.prints.enrolment().identifiers
            guard now ?? [] == foretold.prints else { throw .notForetold }
        }
        let issued = try await issue(account, because: "enabled", client: client)
        // Where nothing could be foretold, the answer tells it.
        for print in approval.foretold == nil ? issued.prints : [] {
            await client.send(.print(print))
        }
        let answer = try await accounts.answering(account) {
            var done = issued.answer
            if let kept = try accounts.kept(account) {
                done.keyring = try await keyring.settleKeyring(
                    request.keyring, password: approval.password, account: account, kept: kept,
                    because: "enabled")
            }
            return Answer.done(done)
        }
        return policy.keptOut(answer, account: account)
    }

    /// Tells which fingers the key will be sealed to. Throws `printsDamaged` with the finger.
    ///
    /// Those of a former account are not told before the password has adopted them; the answer shows
    /// them.
    func foretell(
        _: EnableRequest, account: Account, client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        await templates.openTemplates(of: account)
        let change = ForetoldChange(isAuthorized: client.peer.uid != 0, leavesFinger: true)
        var enrolment: Enrolment?
        let forecast = try accounts.reading(account) { () throws(StoreFault) -> ChangeForecast? in
            guard let kept = try accounts.keptIfOwn(account) else {
                guard try accounts.keptOfAnyone(account) == nil else { return nil }
                return ChangeForecast(change: change, prints: [], effects: [])
            }
            enrolment = try kept.prints.enrolmentIfOpen()
            return ChangeForecast(change: change, prints: enrolment?.identifiers, effects: [])
        }
        if let enrolment, !enrolment.isEmpty {
            try enrolment.checkWhole()
            for print in enrolment.answers { await client.send(.print(print)) }
        }
        await client.send(.of(ChangeForecastAnswer()))
        return forecast
    }

    /// Issues a credential for the current fingers and reader contents, for which the user vouches.
    ///
    /// The router has checked the password, or the caller is root. Readers that store prints of the
    /// account are listed in its own turn, so that the credential covers what they store now.
    /// Throws `notEnrolled`, `printsDamaged` with the finger, a reader's fault, or the denial of a
    /// storage or vault fault.
    ///
    /// - Parameters:
    ///   - vault: the vault to use; nil for the present one, or the preferred one.
    ///   - reason: the reason for the journal.
    func issue(
        _ account: Account, in vault: VaultKind? = nil, because reason: String,
        client: any Client
    ) async throws(Denial) -> IssueResult {
        let own = try accounts.reading(account) {
            let enrolment = try accounts.kept(account)?.prints.enrolment()
            guard let enrolment else { throw Denial(.notEnrolled) }
            try enrolment.checkWhole()
            return try AccountStorage(enrolment.prints)
        }
        guard await !listing(own).isEmpty else {
            return try await issue(account, listed: [], in: vault, because: reason)
        }
        let turn = try await touches.upkeepTurn("signet enable", account: account, client: client)
        defer { withExtendedLifetime(turn) {} }
        await templates.openTemplatesForListing()
        await upkeep.tidyReaders()
        var listed: [ReaderContents] = []
        for reader in await listing(own) {
            switch await readers.list(reader) {
            case .failure(let fault): throw Denial(of: fault)
            case .success(let contents): listed.append(contents)
            }
        }
        return try await issue(account, listed: listed, in: vault, because: reason)
    }

    /// Returns the connected readers that store prints of these kinds and can list them.
    private func listing(_ own: AccountStorage) async -> [ReaderDescription] {
        await readers.listing().filter { reader in
            own.kinds.contains { $0.driver == reader.driver && $0.device == reader.deviceID }
        }
    }

    /// Issues the credential for the fingers on disk and the reader contents that were listed.
    ///
    /// A valid credential hands on the contents that it covered of readers which were not listed.
    /// If there is none, the account's own prints are covered on such readers instead, since the
    /// user vouches for them.
    private func issue(
        _ account: Account, listed: [ReaderContents], in vault: VaultKind?,
        because reason: String
    ) async throws(Denial) -> IssueResult {
        try await accounts.answering(account) {
            guard let kept = try accounts.kept(account) else { throw Denial(.notEnrolled) }
            let enrolment = try kept.prints.enrolment()
            try enrolment.checkWhole()
            let own = try AccountStorage(enrolment.prints)
            var covering: [ReaderStorage] = []
            for contents in listed {
                covering.append(
                    try coverage.covered(
                        contents, of: account.uid,
                        own: own.prints(on: contents.storage(of: [])), recorded: []))
            }
            let former = try credentials.revokeIfUnfit(account, kept: kept, enrolment: enrolment)
            let haveFollowed = try await credentials.issue(
                account, kept: kept, enrolment: enrolment,
                covering: coverage.storage(
                    after: former.storage, now: own, removing: AccountStorage(), listed: covering,
                    isVouched: former.vault == nil), in: vault, because: reason)
            return IssueResult(
                answer: DoneAnswer(prints: enrolment.count, state: .valid),
                prints: enrolment.answers, haveFollowed: haveFollowed)
        }
    }

    /// Turns login by finger off: destroys the credential and the stored password; the fingers
    /// stay.
    ///
    /// The account's session token is deleted as well.
    func disable(
        _: DisableRequest, account: Account, approval: ChangeApproval, client: any Client
    ) throws(Denial) -> Answer {
        sessionTokens.forgetToken(of: account)
        return try accounts.reading(account) {
            guard let kept = try accounts.keptOfAnyone(account) else { throw Denial(.notEnrolled) }
            if let foretold = approval.foretold {
                guard foretold.covers(try effects(ofDisabling: kept)) else {
                    throw StoreFault.notForetold
                }
            }
            // Delete the password first: once login is off, root could turn it on again, and
            // nothing would drop the password.
            try keyringRecords.forgetKeyring(account, kept: kept, because: "disabled")
            try kept.credential.disable(now: accounts.instant)
            journal.credential(of: account, change: "destroyed", because: "disabled")
            return .done(DoneAnswer(state: .disabled))
        }
    }

    /// Tells what turning it off ends besides login; nothing of what a former account has left.
    func foretell(
        _: DisableRequest, account: Account, client: any Client
    ) async throws(Denial) -> ChangeForecast? {
        let effects = try accounts.reading(account) { () throws(StoreFault) in
            try accounts.keptIfOwn(account).map(effects(ofDisabling:))
        }
        for effect in effects ?? [] { await client.send(.of(effect)) }
        await client.send(.of(ChangeForecastAnswer()))
        return effects.map { ChangeForecast(change: Self.disabling, prints: nil, effects: $0) }
    }

    /// No password takes the place of the stored one.
    private static let disabling = ForetoldChange(isAuthorized: false, leavesFinger: true)

    private func effects(
        ofDisabling kept: AccountState
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        try keyringRecords.effects(of: Self.disabling, on: kept, fitting: nil)
    }

    /// Lifts the account's lockout after a login with the password, which only root may report.
    func passwordAccepted(
        _ request: PasswordAcceptedRequest, account: Account, client: any Client
    ) throws(Denial) -> Answer {
        let service = String(decoding: request.service.bytes, as: UTF8.self)
        try accounts.reading(account) { () throws(StoreFault) in
            try accounts.passwordGiven(account, knowingOld: false)
        }
        return try unlock(account, because: "password accepted by \(service)")
    }

    /// Lifts the account's lockout, and logs why; does nothing if there is none.
    ///
    /// The caller has made sure of the password, or is root.
    func unlock(_ account: Account, because reason: String) throws(Denial) -> Answer {
        try changing(account) { kept throws(StoreFault) in
            if kept.lockout.load() != Lockout() {
                try kept.lockout.save(Lockout())
                journal.service("lockout of \(account.name) lifted: \(reason)")
            }
            return .done(DoneAnswer())
        }
    }

    /// Changes an account's records; throws `notEnrolled` if it has none.
    private func changing(
        _ account: Account, _ change: (AccountState) throws(StoreFault) -> Answer
    ) throws(Denial) -> Answer {
        try accounts.reading(account) {
            guard let kept = try accounts.kept(account) else { throw Denial(.notEnrolled) }
            return try change(kept)
        }
    }
}

/// The result of issuing a credential.
struct IssueResult {
    let answer: DoneAnswer
    /// The prints that the credential was sealed to.
    let prints: [PrintAnswer]
    /// Whether the prints were resealed for the credential's vault.
    let haveFollowed: Bool
}

extension Enrolment {
    /// Throws unless there are fingers and none of their prints is damaged.
    ///
    /// A key sealed to the remaining prints would drop a finger without notice.
    fileprivate func checkWhole() throws(Denial) {
        if let first = damaged.first { throw Denial(.printsDamaged, finger: first.finger) }
        guard !isEmpty else { throw Denial(.notEnrolled) }
    }

    /// The number of fingers, as the command protocol expresses it.
    var count: UInt8 { UInt8(clamping: prints.count) }
}

extension Enabling {
    /// Issues the credential again in the named vault, moves the prints and what else opens to the
    /// fingers there, and ends what does not open to them.
    ///
    /// Throws `badRequest` for an unknown vault, and `storage` if the prints could not be moved;
    /// the credential has moved nevertheless then. What else cannot be moved stays in its
    /// vault, which is logged.
    func migrate(
        _ request: MigrateRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard let kind = VaultKind.allCases.first(where: { $0.name == request.vault })
        else { throw Denial(.badRequest) }
        let issued = try await issue(
            account, in: kind, because: "moved to the vault \(kind.rawValue)", client: client)
        do throws(StoreFault) {
            if let kept = try accounts.kept(account) {
                try holdings.settle(
                    Holder(account: account, kept: kept), for: kept.prints.enrolment())
            }
        } catch { journal.fault(error.description, account: account.name) }
        // Otherwise the user might give up a vault that the prints still need.
        guard issued.haveFollowed else {
            throw Denial(.storage, subject: Detail.printsNotMoved.bytes)
        }
        return .done(issued.answer)
    }
}
