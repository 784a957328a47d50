// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import MainContext
import Sealing
import State

/// The account's secrets: a change of fingers leaves them stale, and ends none.
///
/// They open again if the fingers become those that they were sealed to.
struct SecretHolding: FingerBound {
    static let ending = Ending.data

    private let journal: DecisionJournal
    private let vaults: Vaults

    init(_ parts: HoldingParts) {
        journal = parts.journal
        vaults = parts.vaults
    }
}

extension SecretHolding {
    func prepare(_: ChangeOfFingers, of _: Holder) {}
    func settle(_: Holder, for _: Enrolment) {}
    func revoke(_: Holder) {}

    func move(_ holder: Holder, for fingers: Enrolment, to vault: VaultKind) async {
        do throws(StoreFault) {
            for secret in try holder.kept.secrets.list().intact {
                do throws(StoreFault) {
                    try await move(
                        secret, in: holder.kept.secrets, for: fingers.state, to: vault)
                } catch { journal.fault("a secret could not be moved to another vault: \(error)") }
            }
        } catch { journal.fault(error.description) }
    }

    /// Moves the key of one secret, unless it is in that vault already or opens to other fingers.
    func move(
        _ secret: StoredSecret, in secrets: SecretStore, for fingers: EnrolmentState,
        to vault: VaultKind
    ) async throws(StoreFault) {
        guard let sealing = secret.sealing(for: fingers), sealing.vault != vault else { return }
        let context = try secrets.context(secret.identifier, name: secret.name, state: fingers)
        let key = try await vaults.move(
            sealing.key, from: sealing.vault, to: vault, context: context)
        try secrets.keep(secret, resealed: key, by: vault, enrolment: fingers)
    }

    func count(_ kept: AccountState, fitting fingers: EnrolmentState?) throws(StoreFault) -> Int {
        let all = try kept.secrets.list()
        return fingers.map(all.count(fitting:)) ?? 0
    }

    func effects(
        of _: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        let count = try count(kept, fitting: fingers)
        return count > 0 ? [ChangeEffectAnswer("secret", count: UInt32(clamping: count))] : []
    }

    func show(
        _ holder: Holder, for fingers: Enrolment, credential _: CredentialFileState,
        in report: inout AccountReport
    ) {
        let count: Int
        do throws(StoreFault) {
            count = try self.count(holder.kept, fitting: fingers.state)
        } catch { return journal.fault(error.description) }
        report.status.secrets = count > 0 ? UInt32(clamping: count) : nil
    }

    func report(_ change: (before: Int, after: Int), in done: inout DoneAnswer) {
        done.secrets = change.before > 0 ? UInt32(clamping: change.before) : nil
    }
}
