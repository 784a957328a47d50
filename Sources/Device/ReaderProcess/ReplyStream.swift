// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import ReaderProtocol
import Synchronization

/// The replies to signetd, and the judgements that signetd sends in return.
///
/// Replies are written to the socket directly from the readers' thread. Judgements arrive on the
/// service's thread, in the order in which they were requested. A refusal, or the end of the
/// connection, refuses all present and later examinations.
final class ReplyStream: Sendable {
    /// How long signetd may leave a reply unread.
    private static let patience = Duration.seconds(2)

    let socket: PacketSocket
    private let judgements = Mutex(Judgements())

    /// The examinations that wait for a judgement, and the judgements that arrived early.
    private struct Judgements {
        var waiting: [CheckedContinuation<Bool, Never>] = []
        /// The number of acceptances that arrived before the readers' thread began to wait for
        /// them.
        var early = 0
        var isOver = false
    }

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    /// Sends `alive`, which shows signetd that the process works before it sends a request.
    @ServiceActor
    func greet() {
        guard let frame = try? ReaderReply.alive.encoded() else { return }
        put(frame)
    }

    /// Sends a reply; if signetd does not read it in time, the connection is shut down.
    ///
    /// It must not be skipped: with a reply missing, signetd would get fewer prints than there are.
    @ReaderActor
    func send(_ reply: ReaderReply) {
        guard let frame = try? reply.encoded() else {
            // A reply that does not fit into a frame is replaced by a fault, because signetd could
            // not use it.
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

    /// Sends a reader's contents to signetd and waits for its judgement.
    ///
    /// - Returns: true if signetd accepts; false if it refuses, or the connection has ended.
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

    /// Passes a judgement on to the examination that has waited longest.
    ///
    /// A refusal answers all of them, including later ones.
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
