// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import State

/// A touch that has allowed more than one signature, with the records as they were then.
///
/// The vaults open nothing for it once it is a minute old.
struct GrantingTouch: Sendable {
    let touch: Touch<ScannedFinger>
    let snapshot: AccountSnapshot

    /// Whether records are still those of the touch: the same credential and fingers.
    func isOf(_ now: AccountSnapshot) -> Bool {
        now.credential.identifier == snapshot.credential.identifier
            && now.enrolment.state == snapshot.enrolment.state
    }
}

extension Touches {
    /// Writes a receipt for what an earlier touch of the account has allowed, and returns the
    /// account's records as they are then.
    ///
    /// Throws `changedMeanwhile` if the credential or the fingers are no longer those of the touch,
    /// `suspending` if the machine was suspended since, and `timedOut` if the chain of receipts does
    /// not become free in time.
    ///
    /// - Parameter check: called once the chain is free, which may be long after the request; what it
    ///   throws ends the request without a receipt.
    func addReceipt(
        _ matter: SignedMatter, account: Account, for earlier: GrantingTouch,
        within limit: Duration, check: () async throws(Denial) -> Void
    ) async throws(Denial) -> AccountSnapshot {
        var slot = receiptSlots.free(for: account.uid)
        if slot == nil { slot = await receiptSlots.next(for: account.uid, within: limit) }
        guard let slot else { throw Denial(Task.isCancelled ? .cancelled : .timedOut) }
        try await check()
        if logind.hasSlept(since: earlier.touch.suspensions) { throw Denial(.suspending) }
        var snapshot = try credentials.revokingSnapshot(of: account)
        guard earlier.isOf(snapshot) else { throw Denial(.changedMeanwhile) }
        if snapshot.credential == earlier.snapshot.credential {
            snapshot.storage = earlier.snapshot.storage
        }
        let place = try reserve(account, snapshot: snapshot, in: slot)
        let preparation = try ready(
            account, snapshot: snapshot, item: { _ in nil }, interruption: Interruption())
        defer { preparation.end() }
        let items: Result<ReadyItems, VaultError>
        do throws(VaultError) {
            items = .success(try await preparation.items())
        } catch { items = .failure(error) }
        _ = try await sign(
            matter, account: account, snapshot: snapshot, place: place, ready: items, item: nil,
            for: earlier.touch)
        try accounts.reading(account) { () throws(StoreFault) in
            try place.grant()
            try place.end()
        }
        return snapshot
    }
}
