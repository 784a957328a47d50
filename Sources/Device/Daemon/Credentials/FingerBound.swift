// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import MainContext
import Posix
import Sealing
import State

/// Something of an account that opens only to its fingers: one type a kind.
///
/// The build lists every type of this protocol, and `Holdings` walks the list whenever an account's
/// fingers or its credential change, and when its status is asked for. A new kind is therefore reached by each walk once its type
/// exists, and no other file names it. What a kind stores lies below the account's directory, which
/// recovery and deletion walk by themselves.
///
/// There are no default implementations: each kind says what becomes of it.
@ServiceActor
protocol FingerBound: SendableMetatype {
    /// When it ends, where all kinds of an account end.
    static var ending: Ending { get }

    /// Makes the kind; it keeps those parts that it uses.
    init(_ parts: HoldingParts)

    /// Drops what an earlier change has left, so that only this one vouches, and seals what outlives
    /// an authorised change to the fingers after it, beside those before it.
    ///
    /// Called before the change takes effect, so that a crash on either side of that leaves what
    /// opens to the fingers that count then, and to no others.
    func prepare(_ change: ChangeOfFingers, of holder: Holder) async throws(StoreFault)

    /// Ends what does not open to these fingers, and drops what an interrupted change has left.
    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault)

    /// Ends what must not outlive the account's credential.
    ///
    /// Called before the credential is destroyed, because the fingers that it was sealed to are
    /// gone, or can no longer be told from others.
    func revoke(_ holder: Holder) throws(StoreFault)

    /// Moves what opens to these fingers to the vault in which the account's credential is now.
    ///
    /// What cannot be moved stays where it was, which is logged.
    func move(_ holder: Holder, for fingers: Enrolment, to vault: VaultKind) async

    /// How many of it open to these fingers, by their records; nil for fingers that cannot be read,
    /// which a kind counts as it states afterwards.
    func count(_ kept: AccountState, fitting fingers: EnrolmentState?) throws(StoreFault) -> Int

    /// What a change of these fingers will do to it, as the user is told before; empty for what the user
    /// need not know.
    func effects(
        of change: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer]

    /// Shows in the account's status what there is of it, with the credential's judgement on these
    /// fingers. Changes nothing. Throws where the status cannot be given without it.
    func show(
        _ holder: Holder, for fingers: Enrolment, credential: CredentialFileState,
        in report: inout AccountReport
    ) throws(StoreFault)

    /// States in the answer to a change of fingers how many opened before it, and do so after it.
    func report(_ change: (before: Int, after: Int), in done: inout DoneAnswer)
}

/// When a kind ends, where all kinds of an account end: the first of these first.
enum Ending: Int {
    /// A password, which could not be replaced later: if root enables fingerprint login again, it
    /// gives none.
    case password
    /// A key that a server accepts, with all that depends on it.
    case registration
    /// A key that is registered nowhere.
    case key
    /// What nothing else depends on.
    case data
}

/// The account whose holdings are walked.
struct Holder {
    let account: Account
    let kept: AccountState
}

/// An account's status, and what is sent before it.
struct AccountReport {
    var status: StatusAnswer
    var parts: [Answer] = []
}

/// A change of an account's fingers, before it takes effect.
struct ChangeOfFingers {
    let before: Enrolment
    let after: Enrolment
    /// Evidence that a password has authorised it; nil without that, or if the credential no longer
    /// says which fingers may use what is sealed to those before the change.
    let authorization: AuthorizedChange?
}

/// What a kind may use of the daemon.
@ServiceActor
struct HoldingParts {
    let journal: DecisionJournal
    let vaults: Vaults
    let accounts: Accounts
    let sessionTokens: SessionTokens
    let underWay: ChangesUnderWay
}

/// What has begun and not ended: while it lasts, a walk spares what it is about.
@ServiceActor
final class ChangesUnderWay {
    /// The uids of accounts whose fingers are being changed.
    private var accounts: Set<UInt32> = []
    /// The keys whose registration at a server is in progress, so that its outcome is not known.
    private var registrations: Set<CredentialID> = []
}

extension ChangesUnderWay {
    /// Whether an account's fingers are being changed.
    func includes(_ account: Account) -> Bool { accounts.contains(account.uid) }

    /// Marks a change of an account's fingers as in progress: until it ends, what its keys are
    /// sealed to for it is kept.
    ///
    /// Throws `.changedMeanwhile` if another change is in progress.
    func begin(_ account: Account) throws(StoreFault) {
        guard accounts.insert(account.uid).inserted else { throw .changedMeanwhile }
    }

    /// Marks a change as ended, whatever its outcome.
    func end(_ account: Account) { accounts.remove(account.uid) }

    /// Whether a registration with this key is in progress.
    func includes(_ key: ServerKey) -> Bool { registrations.contains(key.identifier) }

    /// Marks the registration of a key as in progress.
    func begin(_ key: ServerKey) { registrations.insert(key.identifier) }

    /// Marks the registration of a key as ended, whatever its outcome.
    func end(_ key: ServerKey) { registrations.remove(key.identifier) }
}
