// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Imports the account's prints from fprintd: answered by `importedPrint` for each file, then
/// `done`.
///
/// Before the password is requested, each file is listed without an outcome.
package struct ImportPrintRequest: AccountRequest {
    package static let verb = Verb(26, name: "importPrint")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)

    package let account: AccountName
}

/// The result for one file in fprintd's store; the raw value is on the wire.
package enum ImportOutcome: UInt8, CaseIterable, Sendable {
    /// The print is now an enrolled finger.
    case imported = 1
    /// The same print is already enrolled as the same finger.
    case known = 2
    /// The same print is already enrolled as another finger.
    case duplicate = 3
    /// Another print of this finger is already enrolled.
    case fingerKnown = 4
    /// Another account has the same print.
    case fingerTaken = 5
    /// The account has the maximum number of fingers.
    case full = 6
    /// No reader that fits the print is present and in use.
    case noReader = 7
    /// The reader stores its own prints, and this one is not among them.
    case notOnReader = 8
    /// The reader could not list what it stores. `subject`: the reason.
    case readerFailed = 9
    /// The print was made on another reader than its directory is named for.
    case otherReader = 10
    /// The print is of another finger than its file is named for.
    case otherFinger = 11
    /// The print belongs to another account, or does not name its account.
    case otherAccount = 12
    /// The file is not a complete print.
    case malformed = 13
    /// The file exceeds the maximum size of a print.
    case tooLarge = 14
    /// The file name is not one that fprintd uses.
    case foreign = 15
    /// The entry is a symbolic link or special file, or a file in place of a directory or the
    /// reverse.
    case notPlain = 16
    /// It is not owned by root.
    case otherOwner = 17
    /// Users other than root may write to it.
    case writable = 18
    /// The file has more than one hard link.
    case linked = 19
    /// It could not be read. `subject`: the reason.
    case unreadable = 20
    /// There are more files than fprintd ever stores; this one and the others were not examined.
    case tooMany = 21
}

/// One file in fprintd's store, and the result of importing it.
package struct ImportedPrintAnswer: FrameContent {
    /// The finger according to the file name; nil if the name is not that of a finger.
    package var finger: Finger?
    /// When the file was written, in seconds since 1970; nil if unknown.
    package var since: UInt64? = nil
    /// Details of the outcome, for the user; never parsed.
    package var subject: Bytes? = nil
    /// The outcome; nil for a file that is listed before the password is requested.
    package var outcome: ImportOutcome?  // .done
    /// The path within the account's directory: `driver/device/finger`.
    package var place: Bytes  // .origin
}
