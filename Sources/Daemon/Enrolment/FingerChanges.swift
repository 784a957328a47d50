// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Posix
import ReaderProtocol
import Store
import Vault

/// A change of fingers that the account vouches for by its password, wherever they come from.
@ServiceActor
final class FingerChanges {
    let journal: DecisionJournal
    let accounts: Accounts
    let credentials: Credentials
    let keyring: Keyring
    let upkeep: ReaderUpkeep
    let revocation: ServerKeyRevocation
    let coverage: StorageCoverage

    init(
        journal: DecisionJournal, accounts: Accounts, credentials: Credentials, keyring: Keyring,
        upkeep: ReaderUpkeep, revocation: ServerKeyRevocation, coverage: StorageCoverage
    ) {
        self.journal = journal
        self.accounts = accounts
        self.credentials = credentials
        self.keyring = keyring
        self.upkeep = upkeep
        self.revocation = revocation
        self.coverage = coverage
    }
}

extension FingerChanges {
    /// What the credential covers of what readers keep, after a change of fingers.
    private func storage(
        after change: PrintChange, _ recorded: [ReaderStorage], _ contents: ReaderContents?,
        _ account: Account
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

    /// Makes a change of fingers, and issues the credential for what they are then. `contents` is
    /// what the reader of a new one keeps now; `before` is nil where it cannot be told, and no finger
    /// is left.
    func make(
        _ change: PrintChange, _ account: Account, _ kept: AccountState, from before: Enrolment?,
        _ finger: Finger?, _ contents: ReaderContents?, _ password: VerifiedPassword?,
        because reason: String
    ) async throws(StoreFault) -> DoneAnswer {
        var former: Store.CredentialState?
        var ended: UInt32?
        if let before {
            former = try credentials.revokeIfUnfit(account, kept, before)
            ended = credentials.secrets(kept, fitting: before.state)
        }
        if change.enrolment.isEmpty {
            try upkeep.noteDeletion(of: change.removed)
            try kept.prints.commit(change)
            try kept.credential.withdraw()
            journal.credential(of: account, "destroyed", because: "no finger is left")
        } else if let former, former.isOn {
            try await credentials.issue(
                account, kept, change.enrolment, with: change,
                covering: try storage(after: change, former.storage, contents, account),
                because: reason)
        } else {
            try upkeep.noteDeletion(of: change.removed)
            try kept.prints.commit(change)
        }
        // The change is made, and the finger that is gone leaves no template behind.
        if kept.prints.hasLeftovers { accounts.noteFault(at: account) }
        let opens = try await keyring.settleKeyring(nil, password, account, kept, because: reason)
        let now = try kept.prints.enrolment()
        let state = try credentials.revokeIfUnfit(account, kept, now)
        // At once: what servers gave for the fingers before is to be good for nothing.
        try revocation.revokeUnfitServerKeys(account, kept, now)
        return DoneAnswer(
            finger: finger, prints: now.count, state: state.onTheWire, keyring: opens,
            secrets: ended)
    }
}

extension Store.CredentialState {
    /// Whether a change of fingers by the account itself leaves login by finger on.
    ///
    /// Not where it was switched off; nor where a change of another kind had ended it: issuing
    /// anew would then bless fingers that nobody has vouched for. `signet enable` does that.
    fileprivate var isOn: Bool {
        switch self {
        case .none, .issued: true
        case .unfit, .disabled, .destroyed, .damaged: false
        }
    }

    /// What was recorded of readers with a credential that is there.
    var storage: [ReaderStorage] {
        if case .issued(let credential) = self { credential.storage } else { [] }
    }

    /// As the socket has it.
    var onTheWire: CommandProtocol.CredentialState {
        switch self {
        case .none, .damaged: .none
        case .issued: .valid
        case .disabled: .disabled
        case .unfit, .destroyed: .invalidated
        }
    }
}
