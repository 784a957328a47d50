// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import MainContext
import Sealing
import State

/// Badges end with the fingers that they were given to, and with the credential.
struct BadgeHolding: FingerBound {
    static let ending = Ending.data

    init(_: HoldingParts) {}

    func prepare(_: ChangeOfFingers, of _: Holder) {}

    func settle(_ holder: Holder, for fingers: Enrolment) throws(StoreFault) {
        for badge in try holder.kept.badges.list() where badge.fingers != fingers.state.digest {
            try holder.kept.badges.remove(badge)
        }
    }

    func revoke(_ holder: Holder) throws(StoreFault) {
        for badge in try holder.kept.badges.list() { try holder.kept.badges.remove(badge) }
    }

    func move(_: Holder, for _: Enrolment, to _: VaultKind) {}

    func count(_ kept: AccountState, fitting fingers: EnrolmentState?) throws(StoreFault) -> Int {
        try kept.badges.list().count { fingers == nil || $0.fingers == fingers?.digest }
    }

    func effects(
        of _: ForetoldChange, on kept: AccountState, fitting fingers: EnrolmentState?
    ) throws(StoreFault) -> [ChangeEffectAnswer] {
        let count = try count(kept, fitting: fingers)
        return count > 0 ? [ChangeEffectAnswer("badge", count: UInt32(clamping: count))] : []
    }

    func show(
        _: Holder, for _: Enrolment, credential _: CredentialFileState, in _: inout AccountReport
    ) {}

    func report(_: (before: Int, after: Int), in _: inout DoneAnswer) {}
}
