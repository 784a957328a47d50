// SPDX-License-Identifier: Apache-2.0
/// The points of a durable change at which a machine or a disk may give up.
package enum DurableStep: Equatable, Sendable, CaseIterable {
    /// Before the temporary file, or the file to append to, is opened.
    case create
    /// Before the bytes are written.
    case write
    /// When half the bytes were written.
    case writeHalf
    /// Before fsync(2) of the file.
    case synchronise
    /// Before ftruncate(2).
    case truncate
    /// Before rename(2) over the old file.
    case rename
    /// Before unlink(2).
    case remove
    /// Before mkdir(2).
    case makeDirectory
    /// Before fsync(2) of the directory.
    case synchroniseDirectory
}

/// Faults that tests inject into durable changes; a program runs with `none`.
package struct DurableFaults: Sendable {
    /// Called before each step with the file's name; throws what the step shall fail with.
    package let before: @Sendable (DurableStep, String) throws(SystemFault) -> Void

    /// Calls `before` ahead of each step.
    package init(_ before: @escaping @Sendable (DurableStep, String) throws(SystemFault) -> Void) {
        self.before = before
    }

    /// No faults.
    package static let none = DurableFaults { (_, _) throws(SystemFault) in }
}
