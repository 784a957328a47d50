// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// The action on the prints that readers store; the raw value is on the wire.
package enum StorageAction: UInt8, CaseIterable, Sendable {
    /// List the prints.
    case list = 1
    /// Delete the prints that belong to no account on this machine.
    case deleteForeign = 2
    /// Delete all prints, including those of accounts on this machine.
    case clear = 3
}

/// Lists or deletes prints that readers store: answered by `storedPrint` for each, then `done`.
package struct ReaderPrintsRequest: MachineRequest {
    package static let verb = Verb(29, name: "readerPrints")
    // Only root may learn which accounts' fingers a reader stores.
    package static let rule = VerbRule(.root)

    /// The action.
    package var action: StorageAction  // .storageAction
    /// The only reader to list or to change; nil for all.
    package var readerID: Bytes?

    /// Creates a request.
    package init(_ action: StorageAction, readerID: Bytes? = nil) {
        self.action = action
        self.readerID = readerID
    }
}

/// One print that a reader stores.
package struct StoredPrintAnswer: DaemonAnswer {
    package static let kind = AnswerKind(147, name: "storedPrint")
    // With an action other than `list` the print was deleted already.
    package static let meaning = AnswerMeaning.change

    /// The account on this machine that owns the print; nil if none does.
    package var account: AccountName?
    /// The finger according to that account; without one, according to the reader.
    package var finger: Finger?
    /// The id of the reader.
    package var readerID: Bytes
    /// The reader's description of the print, for the user; never parsed.
    package var subject: Bytes? = nil
}

extension Request {
    package static func readerPrints(_ request: ReaderPrintsRequest) -> Request { Request(request) }
}

extension Field {
    package static var storageAction: Field { Field(21, size: 1) }
}
