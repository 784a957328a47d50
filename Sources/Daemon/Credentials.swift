// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import ReaderProtocol
import Store
import Vault

/// Login by finger on and off, and lockouts lifted: all after the password.
extension Service {
    /// Issues a credential for the present fingers, and for what readers keep now.
    ///
    /// `keyring` turns the release of the login password on or off, nil leaves it as it is as far
    /// as the password is at hand. Sends the prints that the credential was sealed to.
    func enable(
        _ account: Account, keyring: Bool? = nil, _ password: VerifiedPassword?,
        _ client: any Client
    ) async throws(Denial) -> Answer {
        let issued = try await vouch(account, because: "enabled", client)
        for print in issued.prints { await client.send(.print(print)) }
        return try await answering(account) {
            var done = issued.answer
            if let kept = try kept(account) {
                done.keyring = try await settleKeyring(
                    keyring, password, account, kept, because: "enabled")
            }
            return .done(done)
        }
    }

    /// Issues a credential for what there is now; whoever gave the password answers for it.
    ///
    /// Readers that keep prints of the account's are listed in a turn of its own.
    func vouch(
        _ account: Account, in vault: VaultKind? = nil, because reason: String,
        _ client: any Client
    ) async throws(Denial) -> IssueResult {
        let own = try reading(account) {
            let enrolment = try kept(account)?.prints.enrolment()
            guard let enrolment else { throw Denial(.notEnrolled) }
            try enrolment.checkWhole()
            return try AccountStorage(enrolment.prints)
        }
        guard await !listing(own).isEmpty else {
            return try await issue(account, listed: [], in: vault, because: reason)
        }
        let turn = try await upkeepTurn("signet enable", account, client)
        defer { withExtendedLifetime(turn) {} }
        await openTemplatesForListing()
        await tidyReaders()
        var listed: [ReaderContents] = []
        for reader in await listing(own) {
            switch await readers.list(reader) {
            case .failure(let fault): throw Denial(of: fault)
            case .success(let contents): listed.append(contents)
            }
        }
        return try await issue(account, listed: listed, in: vault, because: reason)
    }

    /// The turn at the readers for what nobody touches anything for.
    func upkeepTurn(
        _ command: String, _ account: Account, _ client: any Client
    ) async throws(Denial) -> HeldTurn {
        let asker = Asker(command, by: accountable(client))
        return HeldTurn(
            try await gate.turn(
                for: applicant(.upkeep, account, asker, client),
                within: settings.duration(Settings.touchTimeout) ?? .seconds(60)))
    }

    /// The readers that keep prints of these kinds, and tell.
    private func listing(_ own: AccountStorage) async -> [ReaderDescription] {
        await readers.listing().filter { reader in
            own.kinds.contains { $0.driver == reader.driver && $0.device == reader.deviceID }
        }
    }

    private func issue(
        _ account: Account, listed: [ReaderContents], in vault: VaultKind?,
        because reason: String
    ) async throws(Denial) -> IssueResult {
        try await answering(account) {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            let enrolment = try kept.prints.enrolment()
            try enrolment.checkWhole()
            let own = try AccountStorage(enrolment.prints)
            var covering: [ReaderStorage] = []
            for contents in listed {
                covering.append(
                    try covered(
                        contents, of: account.uid,
                        own: own.prints(on: contents.storage(of: [])), recorded: []))
            }
            let former = try revokeIfUnfit(account, kept, enrolment)
            let haveFollowed = try await issue(
                account, kept, enrolment,
                covering: storage(
                    after: former.storage, now: own, removing: AccountStorage(), listed: covering,
                    isVouched: former.vault == nil), in: vault, because: reason)
            return IssueResult(
                answer: DoneAnswer(prints: enrolment.count, state: .valid),
                prints: enrolment.answers, haveFollowed: haveFollowed)
        }
    }

    /// Destroys the credential; the fingers stay.
    func disable(_ account: Account) throws(Denial) -> Answer {
        forgetToken(of: account)
        return try changing(account) { kept throws(StoreFault) in
            // First: once login is off, root could turn it on again and nothing would drop it.
            try forgetKeyring(account, kept, because: "disabled")
            try kept.credential.disable(now: instant)
            journal.credential(of: account, "destroyed", because: "disabled")
            return .done(DoneAnswer(state: .disabled))
        }
    }

    /// Lifts a lockout.
    func unlock(_ account: Account, because reason: String) throws(Denial) -> Answer {
        try changing(account) { kept throws(StoreFault) in
            if kept.lockout.load() != Lockout() {
                try kept.lockout.save(Lockout())
                journal.service("lockout of \(account.name) lifted: \(reason)")
            }
            return .done(DoneAnswer())
        }
    }

    /// Issues a credential for these fingers in the place of any older one: in the vault that is
    /// wanted, else where the older one was. It covers `storage` of what readers keep. Where `change`
    /// leads to these fingers, both happen at once or not at all. False where the prints did not
    /// follow into the credential's vault.
    @discardableResult
    func issue(
        _ account: Account, _ kept: AccountState, _ enrolment: Enrolment,
        with change: PrintChange? = nil, covering storage: [ReaderStorage],
        in wanted: VaultKind? = nil, because reason: String
    ) async throws(StoreFault) -> Bool {
        let draft = try kept.credential.draft(enrolment, covering: storage)
        let former = try kept.credential.state()
        let kind: VaultKind
        if let wanted { kind = wanted } else { kind = await vaults.chosen(after: former.vault) }
        let made: NewCredential
        do throws(VaultError) {
            made = try await vaults.call(kind) { vault throws(VaultError) in
                try vault.create(draft.context)
            }
        } catch { throw .vault(error) }
        // While the vault was at work, somebody else may have changed the fingers, or switched
        // login by finger off.
        guard try kept.credential.state() == former else { throw .changedMeanwhile }
        if change == nil {
            guard try kept.prints.enrolment().state == enrolment.state else {
                throw .changedMeanwhile
            }
        }
        if let change { try noteDeletion(of: change.removed) }
        try kept.credential.publish(draft, made, by: kind, with: change, now: instant)
        journal.credential(of: account, "issued", because: reason)
        // What the account keeps goes where its credential is: the other vault may be given up.
        await moveSecrets(kept, for: enrolment.state, to: kind)
        return await moveTemplates(of: account, kept, to: kind)
    }

    private func changing(
        _ account: Account, _ change: (AccountState) throws(StoreFault) -> Answer
    ) throws(Denial) -> Answer {
        try reading(account) {
            guard let kept = try kept(account) else { throw Denial(.notEnrolled) }
            return try change(kept)
        }
    }
}

/// What came of issuing a credential.
struct IssueResult {
    let answer: DoneAnswer
    /// What it was sealed to.
    let prints: [PrintAnswer]
    /// Whether the prints lie sealed in the credential's vault.
    let haveFollowed: Bool
}

extension Enrolment {
    /// Throws unless there are fingers and none is damaged: a key that is sealed to what is left would
    /// drop a finger, and nobody would be told.
    fileprivate func checkWhole() throws(Denial) {
        if let first = damaged.first { throw Denial(.printsDamaged, finger: first.finger) }
        guard !isEmpty else { throw Denial(.notEnrolled) }
    }

    /// The number of fingers, as the socket has it.
    var count: UInt8 { UInt8(clamping: prints.count) }
}
