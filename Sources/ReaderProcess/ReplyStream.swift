// SPDX-License-Identifier: Apache-2.0
import Loop
import Posix
import ReaderProtocol
import Synchronization

/// The way back to signetd. Replies go from the readers' thread straight to the socket.
final class ReplyStream: Sendable {
    /// How long signetd may leave a reply unread.
    private static let patience = Duration.seconds(2)

    let socket: PacketSocket
    private let judgements = Mutex(Judgements())

    /// Who waits for a judgement: they come in the order in which they are asked for.
    private struct Judgements {
        var waiting: [CheckedContinuation<Bool, Never>] = []
        /// Those that came before anybody waited: signetd may be faster than this thread.
        var early = 0
        var isOver = false
    }

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    /// Tells signetd who it is, before it asks.
    @ServiceActor
    func greet() {
        guard let frame = try? ReaderReply.alive.encoded() else { return }
        put(frame)
    }

    /// Sends a reply. Where signetd does not take it, the connection ends: one that left out something
    /// would tell of fewer prints than there are.
    @ReaderActor
    func send(_ reply: ReaderReply) {
        guard let frame = try? reply.encoded() else {
            // A reader that says more than a frame holds is none that signetd could use.
            guard let fault = try? ReaderReply.fault(.protocolError).encoded() else { return }
            return put(fault)
        }
        put(frame)
    }

    private func put(_ frame: [UInt8]) {
        let deadline = ContinuousClock.now + Self.patience
        while case .wouldBlock? = try? socket.send(frame) {
            guard isWritable(socket.descriptor.number, until: deadline) else {
                return socket.shutDown()
            }
        }
    }

    /// Has signetd judge what a reader keeps; false where it does not, or is gone.
    @ReaderActor
    func examine(_ contents: ReaderContents, of reader: String) async -> Bool {
        for print in contents.prints { send(.print(print)) }
        send(.examine(reader: reader, identity: contents.reader))
        return await withCheckedContinuation { continuation in
            let known: Bool? = judgements.withLock { judgements in
                if judgements.isOver { return false }
                guard judgements.early == 0 else {
                    judgements.early -= 1
                    return true
                }
                judgements.waiting.append(continuation)
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    /// Hands over a judgement to whoever has waited longest; a refusal is one for all that come.
    func judge(_ isAccepted: Bool) {
        let resumed = judgements.withLock { judgements in
            guard isAccepted else {
                judgements.isOver = true
                defer { judgements.waiting = [] }
                return judgements.waiting
            }
            guard !judgements.waiting.isEmpty else {
                judgements.early += 1
                return []
            }
            return [judgements.waiting.removeFirst()]
        }
        for continuation in resumed { continuation.resume(returning: isAccepted) }
    }
}
