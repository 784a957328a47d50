// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Something that happens on a reader during an operation, reported while the operation continues.
package struct ReaderEvent: Equatable, Sendable {
    /// The kinds of event, in the order in which they usually occur.
    package enum Kind: Equatable, Sendable {
        /// The reader waits for a finger.
        case fingerNeeded
        /// A finger is on the reader.
        case fingerPresent
        /// The finger has left the reader.
        case fingerGone
        /// The scan was bad; the reader scans again by itself.
        case retry(RetryReason)
        /// An enrolment has progressed: `done` of `total` scans.
        case stage(done: Int, total: Int)
        /// The reader has lost the print of the template at `index`; the match continues without
        /// it.
        case lost(index: Int)
        /// Nothing matched in this part of a large gallery, and the finger is needed again for the
        /// next part.
        case round(next: Int, total: Int)
    }

    /// The reader's id.
    package let reader: String
    /// The kind of the event, with its values.
    package let kind: Kind
}
