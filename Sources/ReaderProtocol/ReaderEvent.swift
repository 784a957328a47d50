// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What happens on a reader while somebody waits for it.
package struct ReaderEvent: Equatable, Sendable {
    /// The kinds of event, in the order they usually come.
    package enum Kind: Equatable, Sendable {
        /// The reader waits for a finger.
        case fingerNeeded
        /// A finger is on the reader.
        case fingerPresent
        /// The scan was bad and starts again by itself.
        case retry(RetryReason)
        /// Enrolment got on: so many scans of so many are done.
        case stage(done: Int, total: Int)
        /// The reader has lost the print of the template at this index; the others are looked for.
        case lost(index: Int)
        /// Nothing matched in this part of a large gallery; the finger is wanted again.
        case round(next: Int, total: Int)
    }

    /// The id of the reader.
    package let reader: String
    /// What happened.
    package let kind: Kind

    /// An event of the reader with the id `reader`.
    package init(reader: String, kind: Kind) {
        self.reader = reader
        self.kind = kind
    }
}
