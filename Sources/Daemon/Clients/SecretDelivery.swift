// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Loop
import Posix

/// Collects the parts of one announced secret, on locked pages, and hands it on when it is whole.
@ServiceActor
final class SecretDelivery {
    /// What a part led to.
    enum Step: Equatable {
        /// More has to come.
        case more
        /// It is whole, or there was no memory for it: whoever waited knows.
        case ended
        /// The part is not the one that has to come next.
        case refused
    }

    private var progress: SecretProgress
    private var parts: [SecretBytes] = []
    private var waiting: CheckedContinuation<Result<SecretBytes, Denial>, Never>?

    /// For a secret of which nothing has come yet.
    init(
        _ progress: SecretProgress,
        to waiting: CheckedContinuation<Result<SecretBytes, Denial>, Never>
    ) {
        self.progress = progress
        self.waiting = waiting
    }

    /// Takes the next part, which must have exactly the size that it has in this secret.
    func add(_ part: RawSpan) -> Step {
        guard progress.take(part.byteCount) else { return .refused }
        do throws(SystemFault) {
            parts.append(try SecretBytes(copying: part))
            guard progress.isWhole else { return .more }
            end(.success(try SecretBytes(joining: parts)))
        } catch {
            end(.failure(Denial(.storage, subject: Bytes(error.description.utf8))))
        }
        return .ended
    }

    /// Ends it without a secret.
    func giveUp() { end(.failure(Denial(.cancelled))) }

    private func end(_ result: Result<SecretBytes, Denial>) {
        parts = []
        waiting?.resume(returning: result)
        waiting = nil
    }
}

extension SecretBytes {
    /// The frame that carries some of the bytes to a client; the caller wipes it.
    func packet(_ range: Range<Int>) -> Bytes {
        var packet = SecretPartFrame.header(.released, count: range.count)
        // All at once: growing would leave copies behind.
        packet.reserveCapacity(packet.count + range.count)
        withBytes { bytes in
            unsafe bytes.extracting(range).withUnsafeBytes { unsafe packet.append(contentsOf: $0) }
        }
        return packet
    }
}
