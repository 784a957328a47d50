// SPDX-License-Identifier: Apache-2.0
import Posix

/// A process that is held, with everything that descends from it.
///
/// While it has not ended, its number is no other process's, so that a chain of parents that ends at
/// the number ends at the process.
package struct ProcessTree: Sendable {
    private let root: any HeldProcess

    /// The tree that begins with a client; nil if its process could not be held or has ended.
    package init?(below client: ClientProcess) {
        guard let process = client.process, !process.hasEnded else { return nil }
        root = process
    }

    /// How many parents are looked at.
    private static let depth = 64

    /// Whether a client is the root or descends from it now.
    ///
    /// Each process on the way is held while its parent is looked up. False if any of them has ended
    /// or cannot be looked up.
    func contains(_ client: ClientProcess, _ facts: any PresenceFacts) -> Bool {
        guard client.credentials.uid != 0, var process = client.process else { return false }
        // While both are held and there, one number is one process.
        if process.pid == root.pid { return !root.hasEnded && !process.hasEnded }
        for _ in 0..<Self.depth {
            guard let parent = try? process.parent(), parent > 1 else { return false }
            if parent == root.pid {
                // The number was the root's if the root is still there, and the parent still this.
                return !root.hasEnded && (try? process.parent()) == parent && !process.hasEnded
            }
            guard let held = try? facts.hold(parent), (try? process.parent()) == parent,
                !process.hasEnded
            else { return false }
            process = held
        }
        return false
    }
}
