// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import MainContext
import Posix
import Sealing
import State

/// All that is sealed to an account's fingers, kind by kind, in the order in which the kinds end.
///
/// Nothing else enumerates the kinds: whatever has to reach all of them walks them here.
@ServiceActor
struct Holdings {
    private let parts: HoldingParts
    private let kinds: [any FingerBound]

    /// Takes the kinds that the build has listed; tests may add others.
    init(_ parts: HoldingParts, listed: [any FingerBound.Type] = Listed.holdings) {
        self.parts = parts
        kinds = listed.map { ($0.ending.rawValue, $0.init(parts)) }
            .sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// One kind, for the feature that it belongs to.
    func only<Kind: FingerBound>(_: Kind.Type) -> Kind { Kind(parts) }
}

extension Holdings {
    /// Marks a change of an account's fingers as in progress, see `ChangesUnderWay`.
    func begin(_ account: Account) throws(StoreFault) { try parts.underWay.begin(account) }

    /// Marks a change as ended, whatever its outcome.
    func end(_ account: Account) { parts.underWay.end(account) }

    /// Prepares all kinds for a change of fingers, which has not taken effect.
    func prepare(_ change: ChangeOfFingers, of holder: Holder) async throws(StoreFault) {
        for kind in kinds { try await kind.prepare(change, of: holder) }
    }

    /// Ends what does not open to these fingers; as `endEach`.
    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) {
        try endEach { kind throws(StoreFault) in try kind.settle(holder, for: fingers) }
    }

    /// Ends what must not outlive the account's credential, which is about to be destroyed; as
    /// `endEach`.
    func revoke(_ holder: Holder) throws(StoreFault) {
        try endEach { kind throws(StoreFault) in try kind.revoke(holder) }
    }

    /// Ends each kind. A fault at one keeps no other from ending; the first is thrown after them.
    private func endEach(
        _ end: (any FingerBound) throws(StoreFault) -> Void
    ) throws(StoreFault) {
        var fault: StoreFault?
        for kind in kinds {
            do throws(StoreFault) { try end(kind) } catch { fault = fault ?? error }
        }
        if let fault { throw fault }
    }

    /// Moves what opens to these fingers to the vault in which the credential is now.
    func move(_ holder: Holder, for fingers: Enrolment, to vault: VaultKind) async {
        for kind in kinds { await kind.move(holder, for: fingers, to: vault) }
    }

    /// How many of each kind open to these fingers; a kind that cannot be read counts as none, which
    /// is logged.
    func counts(_ kept: AccountState, fitting fingers: EnrolmentState?) -> [Int] {
        kinds.map { kind in
            do throws(StoreFault) {
                return try kind.count(kept, fitting: fingers)
            } catch {
                parts.journal.fault(error.description)
                return 0
            }
        }
    }

    /// What a change of these fingers will do to each kind; a kind that cannot be read has no effects,
    /// which is logged.
    func effects(
        of change: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) -> [ChangeEffectAnswer] {
        kinds.flatMap { kind in
            do throws(StoreFault) {
                return try kind.effects(of: change, on: kept, fitting: fingers)
            } catch {
                parts.journal.fault(error.description)
                return []
            }
        }
    }

    /// Shows each kind in the account's status.
    func show(
        _ holder: Holder, for fingers: Enrolment, credential: CredentialFileState,
        in report: inout AccountReport
    ) throws(StoreFault) {
        for kind in kinds {
            try kind.show(holder, for: fingers, credential: credential, in: &report)
        }
    }

    /// States in the answer how many of each kind open to these fingers.
    func report(_ kept: AccountState, fitting fingers: EnrolmentState, in done: inout DoneAnswer) {
        let counts = counts(kept, fitting: fingers)
        report(before: counts, after: counts, in: &done)
    }

    /// States in the answer what has become of each kind; both counts are those of `counts`.
    func report(before: [Int], after: [Int], in done: inout DoneAnswer) {
        for ((kind, before), after) in zip(zip(kinds, before), after) {
            kind.report((before, after), in: &done)
        }
    }
}
