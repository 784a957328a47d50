// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// What is to be done with what readers store; the raw value is on the wire.
package enum StorageAction: UInt8, CaseIterable, Sendable {
    /// Tell of it.
    case list = 1
    /// Delete the prints that no account here has.
    case deleteForeign = 2
    /// Delete all, and those of the accounts here with them.
    case clear = 3
}

/// What root asks about what readers store.
package struct ReaderPrintsRequest: Equatable, Sendable {
    /// What is to be done.
    package var action: StorageAction
    /// Of which reader; nil for all.
    package var readerID: Bytes?

    /// All of it.
    package init(_ action: StorageAction, readerID: Bytes? = nil) {
        self.action = action
        self.readerID = readerID
    }

    /// Appends its fields.
    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.readerID, ifPresent: readerID)
        try frame.put(.storageAction, number: action.rawValue)
    }

    /// Reads its fields.
    init(from frame: inout FrameReader) throws(WireFault) {
        let readerID = try frame.bytesIfPresent(.readerID)
        self.init(try frame.choice(.storageAction), readerID: readerID)
    }
}

/// One print that a reader stores.
package struct StoredPrintAnswer: Equatable, Sendable {
    /// The account here that has it; nil for one that none has.
    package var account: Bytes?
    /// The finger, as the account here has it, else as the reader says.
    package var finger: Finger?
    /// The reader.
    package var readerID: Bytes
    /// What the reader says of it, for people: never parsed.
    package var subject: Bytes?

    /// All of it.
    package init(account: Bytes?, finger: Finger?, readerID: Bytes, subject: Bytes? = nil) {
        self.account = account
        self.finger = finger
        self.readerID = readerID
        self.subject = subject
    }

    /// Appends its fields.
    func put(into frame: inout FrameWriter) throws(WireFault) {
        if let account { try frame.put(accountName: account) }
        try frame.put(.finger, numberIfPresent: finger?.rawValue)
        try frame.put(.readerID, readerID)
        try frame.put(.subject, ifPresent: subject)
    }

    /// Reads its fields.
    init(from frame: inout FrameReader) throws(WireFault) {
        let account = try frame.bytesIfPresent(.account)
        let finger: Finger? = try frame.choiceIfPresent(.finger)
        let readerID = try frame.bytes(.readerID)
        self.init(
            account: account, finger: finger, readerID: readerID,
            subject: try frame.bytesIfPresent(.subject))
    }
}
