// SPDX-License-Identifier: Apache-2.0
/// The steps of a durable change, before or at which the machine or the disk may fail.
package enum DurableStep: Equatable, Sendable, CaseIterable {
    /// Before the temporary file, or the file to append to, is opened.
    case create
    /// Before the bytes are written.
    case write
    /// After half of the bytes have been written.
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

/// Faults that tests inject into durable changes; programs use `none`.
package struct DurableFaults: Sendable {
    /// Called before each step with the file's name; it throws to make the step fail.
    package let before: @Sendable (DurableStep, String) throws(SystemFault) -> Void

    /// Injects the faults that `before` throws.
    package init(_ before: @escaping @Sendable (DurableStep, String) throws(SystemFault) -> Void) {
        self.before = before
    }

    /// Injects no faults.
    package static let none = DurableFaults { (_, _) throws(SystemFault) in }
}
