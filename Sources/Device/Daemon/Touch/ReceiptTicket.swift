// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import MainContext
import State

// An account's receipts form a chain. One touch at a time appends to it: first the receipt, and
// directly after it the line that records that the proof was granted.

/// Grants the end of each account's receipt chain to one touch at a time.
@ServiceActor
final class ReceiptSlots {
    private let turns = PerKeyQueue<UInt32>()
    private var holders: [UInt32: Holder] = [:]

    private struct Holder {
        weak var slot: ReceiptSlot?
    }

    /// Takes the end of an account's chain without waiting; nil if it is in use.
    ///
    /// If the present holder can hand it over (see `ReceiptTicket.mayBeFollowed`), it does so now.
    func free(for uid: UInt32) -> ReceiptSlot? {
        if let slot = taken(uid) { return slot }
        holders[uid]?.slot?.giveUp()
        return taken(uid)
    }

    /// Waits for the end of an account's chain; nil if `limit` passed or the caller's task was
    /// cancelled.
    func next(for uid: UInt32, within limit: Duration) async -> ReceiptSlot? {
        guard await turns.take(uid, within: limit) else { return nil }
        return slot(uid)
    }

    private func taken(_ uid: UInt32) -> ReceiptSlot? {
        turns.takeFree(uid) ? slot(uid) : nil
    }

    private func slot(_ uid: UInt32) -> ReceiptSlot {
        let slot = ReceiptSlot { [turns] in turns.leave(uid) }
        holders[uid] = Holder(slot: slot)
        return slot
    }
}

/// The exclusive right to append to an account's receipt chain.
///
/// It lasts until the ticket made from it is ended, or until the last reference is released.
@ServiceActor
final class ReceiptSlot {
    private var ended: (@Sendable @ServiceActor () -> Void)?
    /// Completes the holder's writes if another touch needs the chain; nil if that touch has to
    /// wait.
    var handOver: (() -> Void)?

    fileprivate init(ended: @escaping @Sendable @ServiceActor () -> Void) { self.ended = ended }

    deinit {
        if let ended { onService { ended() } }
    }

    fileprivate func giveUp() {
        guard let handOver else { return }
        handOver()
        end()
    }

    fileprivate func end() {
        handOver = nil
        ended?()
        ended = nil
    }
}

/// A reserved place in an account's receipt chain.
///
/// Call `append` after the signature, `grant` when the proof is used, and `end` at last. After
/// `end`, nothing more is written and the chain is free for the next touch.
@ServiceActor
final class ReceiptTicket {
    /// The counter of the receipt, and the digest of its predecessor.
    nonisolated let reservation: Reservation
    private let log: ReceiptLog
    private let slot: ReceiptSlot
    private var isOver = false

    init(_ log: ReceiptLog, reservation: Reservation, in slot: ReceiptSlot) {
        self.log = log
        self.reservation = reservation
        self.slot = slot
    }

    /// Appends the receipt and starts to sync it, without waiting for the disk.
    func append(_ receipt: [UInt8]) throws(StoreFault) {
        try log.append(receipt)
        log.beginSync()
    }

    /// Records that the proof was granted; both the receipt and this record are on disk on return.
    ///
    /// Does nothing after `end`.
    func grant() throws(StoreFault) {
        guard !isOver else { return }
        try log.granted(reservation.counter)
    }

    /// Lets another touch of the account take over the chain before this proof is granted.
    ///
    /// When one does, this receipt is recorded as granted. This is for a proof about which a server
    /// is being asked, because its answer may take long.
    ///
    /// - Parameter failed: called if that cannot be written.
    func mayBeFollowed(_ failed: @escaping (StoreFault) -> Void) {
        slot.handOver = { [weak self] in
            guard let self else { return }
            do throws(StoreFault) {
                try grant()
                try end()
            } catch { failed(error) }
        }
    }

    /// Makes the receipt the durable head of the chain, and frees the chain, even if writing fails.
    ///
    /// Does nothing the second time.
    func end() throws(StoreFault) {
        guard !isOver else { return }
        isOver = true
        defer { slot.end() }
        try log.flush()
    }
}
