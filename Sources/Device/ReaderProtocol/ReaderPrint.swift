// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A print in a reader's own storage, where another operating system may have put it.
package struct ReaderPrint: Equatable, Sendable {
    /// The finger, if the reader stores it.
    package let finger: Finger?
    /// The account that it was enrolled for, if the reader stores it.
    package let account: String?
    /// The identity of the print, equal to that of the template that it was enrolled as.
    package let identity: PrintIdentity
    /// The record: everything that the driver reports about the print, which is identity, finger,
    /// account, description and date.
    ///
    /// It stays the same as long as the print does, but another version of the driver may report
    /// more.
    package let bytes: [UInt8]

    /// Whether this is the print that the template refers to, as `fp_print_equal` decides.
    package func isSame(as template: Template) -> Bool {
        identity == template.identity
    }
}

/// The contents of a reader's own storage at one moment.
///
/// The prints are sorted, so equal storages give equal values whatever order the reader lists them
/// in.
package struct ReaderContents: Equatable, Sendable {
    /// The reader.
    package let reader: ReaderIdentity
    /// All prints, including those that other systems enrolled, sorted by their records.
    package let prints: [ReaderPrint]

    /// Creates the contents of a reader's storage from its prints in any order.
    package init(_ prints: [ReaderPrint], of reader: ReaderIdentity) {
        self.reader = reader
        self.prints = prints.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }
}
