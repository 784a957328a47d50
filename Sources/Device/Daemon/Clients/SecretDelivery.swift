// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Assembles one announced secret from its parts, in locked memory.
///
/// The parts must arrive in order, each with exactly the size that the announced total implies, so
/// that a client cannot send more than it has announced. The waiting task is resumed once: with the
/// whole secret, or with a `Denial` (`storage` if there is no locked memory, `cancelled` if the
/// delivery was given up).
@ServiceActor
final class SecretDelivery {
    /// The result of adding a part.
    enum Step: Equatable {
        /// More parts are missing.
        case more
        /// The secret is complete, or there was no memory for it.
        ///
        /// The waiting task was resumed.
        case ended
        /// The part has the wrong size for its place.
        case refused
    }

    private var progress: SecretProgress
    private var parts: [SecretBytes] = []
    private var waiting: CheckedContinuation<Result<SecretBytes, Denial>, Never>?

    /// Starts with a secret of which no part has arrived yet.
    init(
        _ progress: SecretProgress,
        to waiting: CheckedContinuation<Result<SecretBytes, Denial>, Never>
    ) {
        self.progress = progress
        self.waiting = waiting
    }

    /// Adds the next part, which must have exactly the size that it has in this secret.
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

    /// Ends the delivery without a secret; the waiting task gets `cancelled`.
    func giveUp() { end(.failure(Denial(.cancelled))) }

    private func end(_ result: Result<SecretBytes, Denial>) {
        parts = []
        waiting?.resume(returning: result)
        waiting = nil
    }
}

extension SecretBytes {
    /// Returns the frame that carries some of the bytes to a client.
    ///
    /// It contains the bytes in the clear, in ordinary memory: the caller must wipe it.
    func packet(_ range: Range<Int>) -> Bytes {
        var packet = SecretPartFrame.header(.released, count: range.count)
        // Reserve all of it first, since growing the array would leave copies of the secret behind.
        packet.reserveCapacity(packet.count + range.count)
        withBytes { bytes in
            unsafe bytes.extracting(range).withUnsafeBytes { unsafe packet.append(contentsOf: $0) }
        }
        return packet
    }
}
