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
struct EarlierTouch: Sendable {
    let touch: Touch<ScannedFinger>
    let snapshot: AccountSnapshot

    /// Whether records are still those of the touch: the same credential and fingers.
    func isOf(_ now: AccountSnapshot) -> Bool {
        now.credential.identifier == snapshot.credential.identifier
            && now.enrolment.state == snapshot.enrolment.state
    }
}

/// Signs receipts for what an earlier touch of the account has allowed.
@ServiceActor
struct LaterReceipts {
    let touches: Touches

    /// Writes a receipt, and returns the account's records as they are then.
    ///
    /// Throws `changedMeanwhile` if the credential or the fingers are no longer those of the touch,
    /// `suspending` if the machine was suspended since, and `timedOut` if the chain of receipts does
    /// not become free in time.
    ///
    /// - Parameter check: called once the chain is free, which may be long after the request; what it
    ///   throws ends the request without a receipt.
    func add(
        _ matter: SignedMatter, account: Account, for earlier: EarlierTouch,
        within limit: Duration, check: () async throws(Denial) -> Void
    ) async throws(Denial) -> AccountSnapshot {
        let slots = touches.receiptSlots
        var slot = slots.free(for: account.uid)
        if slot == nil { slot = await slots.next(for: account.uid, within: limit) }
        guard let slot else { throw Denial(Task.isCancelled ? .cancelled : .timedOut) }
        try await check()
        if touches.logind.isSuspending
            || touches.logind.suspensions != earlier.touch.suspensions
        {
            throw Denial(.suspending)
        }
        var snapshot = try touches.credentials.revokingSnapshot(of: account)
        guard earlier.isOf(snapshot) else { throw Denial(.changedMeanwhile) }
        if snapshot.credential == earlier.snapshot.credential {
            snapshot.storage = earlier.snapshot.storage
        }
        let place = try touches.reserve(account, snapshot: snapshot, in: slot)
        let preparation = try touches.ready(
            account, snapshot: snapshot, item: { _ in nil }, interruption: Interruption())
        defer { preparation.end() }
        let items: Result<ReadyItems, VaultError>
        do throws(VaultError) {
            items = .success(try await preparation.items())
        } catch { items = .failure(error) }
        _ = try await touches.sign(
            matter, account: account, snapshot: snapshot, place: place, ready: items, item: nil,
            for: earlier.touch)
        try touches.accounts.reading(account) { () throws(StoreFault) in
            try place.grant()
            try place.end()
        }
        return snapshot
    }
}
