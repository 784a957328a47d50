// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix
import ReaderProtocol
import Sealing
import State

/// Applies a change of an account's fingers, and keeps credential, keys and stored password
/// consistent.
///
/// The caller has made sure that root or the account's password vouches for the change. The new set
/// of prints and a credential for it are written in one step, or only the prints if login by finger
/// is off. What else is sealed to the fingers follows in the same request, as each kind says
/// (`FingerBound`), and the stored login password is resealed or dropped.
@ServiceActor
final class FingerChanges {
    let journal: DecisionJournal
    let accounts: Accounts
    let credentials: Credentials
    let keyring: Keyring
    let upkeep: ReaderUpkeep
    let holdings: Holdings
    let coverage: StorageCoverage

    init(
        journal: DecisionJournal, accounts: Accounts, credentials: Credentials, keyring: Keyring,
        upkeep: ReaderUpkeep, holdings: Holdings, coverage: StorageCoverage
    ) {
        self.journal = journal
        self.accounts = accounts
        self.credentials = credentials
        self.keyring = keyring
        self.upkeep = upkeep
        self.holdings = holdings
        self.coverage = coverage
    }
}

extension FingerChanges {
    /// Returns the reader contents that the credential covers after the change.
    ///
    /// - Parameters:
    ///   - recorded: the contents that the former credential covered.
    ///   - contents: what the reader of a new print stores now; nil if it cannot be listed.
    private func storage(
        after change: PrintChange, recorded: [ReaderStorage], contents: ReaderContents?,
        account: Account
    ) throws(StoreFault) -> [ReaderStorage] {
        let own = try AccountStorage(change.enrolment.prints)
        let gone = try AccountStorage(change.removed)
        var listed: [ReaderStorage] = []
        if let contents {
            let unit = contents.storage(of: [])
            let all = try coverage.covered(
                contents, of: account.uid, own: own.prints(on: unit).union(gone.prints(on: unit)),
                recorded: recorded)
            listed = [contents.storage(of: Set(all.prints).subtracting(gone.prints(on: unit)))]
        }
        return coverage.storage(after: recorded, now: own, removing: gone, listed: listed)
    }

    /// Prepares what is sealed to the fingers, and makes the new ones and their credential take
    /// effect.
    ///
    /// - Parameter former: the credential before the change; nil if `before` is.
    private func replace(
        _ change: PrintChange, account: Account, kept: AccountState, from before: Enrolment?,
        former: CredentialFileState?, contents: ReaderContents?, approval: ChangeApproval,
        because reason: String
    ) async throws(StoreFault) {
        let holder = Holder(account: account, kept: kept)
        try holdings.begin(account)
        defer { holdings.end(account) }
        if let before, let former {
            // A credential that is destroyed or damaged no longer says which fingers may use them.
            let authorization = former.isSound ? approval.change : nil
            try await holdings.prepare(
                ChangeOfFingers(
                    before: before, after: change.enrolment, authorization: authorization),
                of: holder)
            // Fingerprint login may have been turned off, or the credential destroyed, meanwhile.
            guard try kept.prints.enrolment().state == before.state,
                try kept.credential.judgement(on: before) == former
            else { throw .changedMeanwhile }
        }
        if change.enrolment.isEmpty {
            try upkeep.noteDeletion(of: change.removed)
            try kept.prints.commit(change)
            try kept.credential.withdraw()
            journal.credential(of: account, change: "destroyed", because: "no finger is left")
        } else if let former, former.isOn {
            try await credentials.issue(
                account, kept: kept, enrolment: change.enrolment, with: change,
                covering: try storage(
                    after: change, recorded: former.storage, contents: contents, account: account),
                because: reason)
        } else {
            try upkeep.noteDeletion(of: change.removed)
            try kept.prints.commit(change)
        }
    }

    /// Applies a change of fingers, and issues the credential for the new set.
    ///
    /// A credential that does not fit the fingers before the change is destroyed and not replaced;
    /// `signet enable` has to issue it. If no finger is left, the credential is withdrawn. Throws
    /// `.changedMeanwhile` as `Credentials.issue` does.
    ///
    /// - Parameters:
    ///   - before: the fingers before the change; nil if they cannot be read, in which case the
    ///     change must remove all.
    ///   - finger: the finger to name in the answer.
    ///   - contents: what the reader of a new print stores now; nil if it cannot be listed.
    ///   - approval: what vouches for the change.
    ///   - reason: the reason for the journal.
    /// - Returns: the number of fingers and the state of the credential now, and what has become of
    ///   what else was sealed to the fingers.
    func make(
        _ change: PrintChange, account: Account, kept: AccountState, from before: Enrolment?,
        finger: Finger?, contents: ReaderContents?, approval: ChangeApproval,
        because reason: String
    ) async throws(StoreFault) -> DoneAnswer {
        var former: CredentialFileState?
        if let before {
            former = try credentials.revokeIfUnfit(account, kept: kept, enrolment: before)
        }
        try check(approval.foretold, of: before, kept: kept)
        let held = holdings.counts(kept, fitting: before?.state)
        try await replace(
            change, account: account, kept: kept, from: before, former: former, contents: contents,
            approval: approval, because: reason)
        // The change has taken effect, but the file of a removed print may be left; recovery
        // deletes it.
        if kept.prints.hasLeftovers { accounts.noteFault(at: account) }
        let opens = try await keyring.settleKeyring(
            nil, password: approval.password, account: account, kept: kept, because: reason)
        let now = try kept.prints.enrolment()
        let state = try credentials.revokeIfUnfit(account, kept: kept, enrolment: now)
        // At once: whatever others have issued for the old fingers must become useless.
        try holdings.settle(Holder(account: account, kept: kept), for: now)
        var done = DoneAnswer(
            finger: finger, prints: now.count, state: state.onTheWire, keyring: opens)
        holdings.report(
            before: held, after: holdings.counts(kept, fitting: now.state), in: &done)
        return done
    }
}

extension CredentialFileState {
    /// Whether login by finger stays on when the account changes its fingers.
    ///
    /// It does not if it was turned off, nor if another change has invalidated the credential: a
    /// new credential would approve fingers that the user has not vouched for. `signet enable`
    /// issues one in these cases.
    fileprivate var isOn: Bool {
        switch self {
        case .none, .issued: true
        case .unfit, .disabled, .destroyed, .damaged: false
        }
    }

    /// Whether the credential is that of the present fingers, with login by finger on or off.
    fileprivate var isSound: Bool {
        switch self {
        case .issued, .disabled: true
        case .none, .unfit, .destroyed, .damaged: false
        }
    }

    /// The reader contents recorded with an issued credential; empty in every other state.
    var storage: [ReaderStorage] {
        if case .issued(let credential) = self { credential.storage } else { [] }
    }

    /// The state as the command protocol expresses it.
    var onTheWire: CredentialState {
        switch self {
        case .none, .damaged: .none
        case .issued: .valid
        case .disabled: .disabled
        case .unfit, .destroyed: .invalidated
        }
    }
}
