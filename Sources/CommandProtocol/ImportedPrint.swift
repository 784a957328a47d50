// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What became of one file in fprintd's store; the raw value is on the wire.
package enum ImportOutcome: UInt8, CaseIterable, Sendable {
    /// It counts as an enrolled finger now.
    case imported = 1
    /// The same print is enrolled already, as the same finger.
    case known = 2
    /// The same print is enrolled already, as another finger.
    case duplicate = 3
    /// Another print of this finger is enrolled.
    case fingerKnown = 4
    /// Another account has the same print.
    case fingerTaken = 5
    /// The account has as many fingers as it may.
    case full = 6
    /// No reader that the print fits is there and used.
    case noReader = 7
    /// The reader keeps prints itself, and not this one.
    case notOnReader = 8
    /// What the reader keeps could not be found out. `subject`: why.
    case readerFailed = 9
    /// The print was made on another reader than its directory says.
    case otherReader = 10
    /// The print is of another finger than its name says.
    case otherFinger = 11
    /// The print is another account's, or does not say whose.
    case otherAccount = 12
    /// It is no whole print.
    case malformed = 13
    /// It is larger than a print can be.
    case tooLarge = 14
    /// Its name is none that fprintd gives.
    case foreign = 15
    /// It is a symbolic link, or neither file nor directory, or the one in the other's place.
    case notPlain = 16
    /// It is not root's.
    case otherOwner = 17
    /// Others than root may write to it.
    case writable = 18
    /// It has a second name elsewhere.
    case linked = 19
    /// It could not be read. `subject`: why.
    case unreadable = 20
    /// There are more files than fprintd ever has: this and the rest was not looked at.
    case tooMany = 21
}

/// One file in fprintd's store, and what became of it.
package struct ImportedPrintAnswer: Equatable, Sendable {
    /// The finger that its name says; nil if that says none.
    package var finger: Finger?
    /// When the file was written, in seconds since 1970; nil where that is not known.
    package var since: UInt64?
    /// Why, where the outcome has a reason of its own; for people, never parsed.
    package var subject: Bytes?
    /// What became of it; nil for one that is shown before the password is asked for.
    package var outcome: ImportOutcome?
    /// Where it lies in the account's directory: `driver/device/finger`.
    package var place: Bytes

    /// All of it.
    package init(
        finger: Finger?, since: UInt64? = nil, subject: Bytes? = nil, outcome: ImportOutcome?,
        place: Bytes
    ) {
        self.finger = finger
        self.since = since
        self.subject = subject
        self.outcome = outcome
        self.place = place
    }

    /// Appends its fields.
    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.subject, ifPresent: subject)
        try frame.put(.done, numberIfPresent: outcome?.rawValue)
        try frame.put(.origin, place)
    }

    /// Reads its fields.
    init(from frame: inout FrameReader) throws(WireFault) {
        let finger: Finger? = try frame.choiceIfPresent(.finger)
        let since: UInt64? = try frame.numberIfPresent(.since)
        let subject = try frame.bytesIfPresent(.subject)
        let outcome: ImportOutcome? = try frame.choiceIfPresent(.done)
        self.init(
            finger: finger, since: since, subject: subject, outcome: outcome,
            place: try frame.bytes(.origin))
    }
}
