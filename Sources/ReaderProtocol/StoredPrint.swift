// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A print in a reader's own storage; another system may have put it there.
package struct StoredPrint: Equatable, Sendable {
    /// The finger, where the reader knows it.
    package let finger: Finger?
    /// The account it was enrolled for, where the reader knows it.
    package let account: String?
    /// What tells this print from others; that of the template it was enrolled as is equal.
    package let identity: PrintIdentity
    /// All that the reader's driver tells of it: the identity, finger, account, description, date.
    /// The same as long as the print is; another version of the driver may tell more.
    package let bytes: [UInt8]

    /// Describes a print by its values.
    package init(finger: Finger?, account: String?, identity: PrintIdentity, bytes: [UInt8]) {
        self.finger = finger
        self.account = account
        self.identity = identity
        self.bytes = bytes
    }

    /// Whether this is the print that the template names (as `fp_print_equal` says).
    package func isSame(as template: Template) -> Bool {
        identity == template.identity
    }
}

/// The prints in a reader's own storage at one moment.
package struct ReaderContents: Equatable, Sendable {
    /// Whose storage it is.
    package let reader: ReaderIdentity
    /// The prints, whoever enrolled them, in an order that does not depend on the reader's.
    package let prints: [StoredPrint]

    /// Sorts the prints of a reader.
    package init(_ prints: [StoredPrint], of reader: ReaderIdentity) {
        self.reader = reader
        self.prints = prints.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
