// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Store

// An account's receipts are a chain to which one touch at a time appends: its receipt, and directly
// behind it the line that says that the proof was granted.

/// The end of each account's chain of receipts, and who has it.
@ServiceActor
final class ReceiptSlots {
    private let turns = PerKeyQueue()
    private var holders: [UInt32: Holder] = [:]

    private struct Holder {
        weak var slot: ReceiptSlot?
    }

    /// The end of an account's chain, where nobody has it, or who has it gives it up.
    func free(for uid: UInt32) -> ReceiptSlot? {
        if let slot = taken(uid) { return slot }
        holders[uid]?.slot?.giveUp()
        return taken(uid)
    }

    /// Waits for the end of an account's chain; nil where it did not come in time, or the caller's task
    /// was cancelled.
    func next(for uid: UInt32, within limit: Duration) async -> ReceiptSlot? {
        guard await turns.take(Self.key(uid), within: limit) else { return nil }
        return slot(uid)
    }

    private func taken(_ uid: UInt32) -> ReceiptSlot? {
        turns.takeFree(Self.key(uid)) ? slot(uid) : nil
    }

    private func slot(_ uid: UInt32) -> ReceiptSlot {
        let slot = ReceiptSlot { [turns] in turns.leave(Self.key(uid)) }
        holders[uid] = Holder(slot: slot)
        return slot
    }

    private static func key(_ uid: UInt32) -> Bytes { Bytes(String(uid).utf8) }
}

/// Possession of the end of an account's chain of receipts, until `end` or the last reference to this
/// is gone.
@ServiceActor
final class ReceiptSlot {
    private var ended: (@Sendable @ServiceActor () -> Void)?
    /// Brings what is left to write to its end, where another touch needs the chain; nil where that
    /// one has to wait.
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

/// A reserved place in the chain of receipts, and what is written there.
@ServiceActor
final class ReceiptTicket {
    /// The counter that the receipt has, and what it follows.
    nonisolated let reservation: Reservation
    private let log: ReceiptLog
    private let slot: ReceiptSlot
    private var isOver = false

    init(_ log: ReceiptLog, _ reservation: Reservation, in slot: ReceiptSlot) {
        self.log = log
        self.reservation = reservation
        self.slot = slot
    }

    /// Writes the receipt, which begins its way to the disk.
    func append(_ receipt: [UInt8]) throws(StoreFault) {
        try log.append(receipt)
        log.beginSync()
    }

    /// Writes that the proof was granted: on disk when this returns.
    func grant() throws(StoreFault) {
        guard !isOver else { return }
        try log.granted(reservation.counter)
    }

    /// Lets another touch of the account's have the chain from now on, if one comes before this one is
    /// granted: the receipt then says that it was as soon as the other comes.
    ///
    /// For a proof that a server was given: what that says may take long to come.
    func mayBeFollowed(_ failed: @escaping (StoreFault) -> Void) {
        slot.handOver = { [weak self] in
            guard let self else { return }
            do throws(StoreFault) {
                try grant()
                try end()
            } catch { failed(error) }
        }
    }

    /// Remembers the receipt as the newest; nothing is written here any more.
    func end() throws(StoreFault) {
        guard !isOver else { return }
        isOver = true
        defer { slot.end() }
        try log.flush()
    }
}
