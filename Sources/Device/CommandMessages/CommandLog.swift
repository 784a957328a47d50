// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats

/// The lines of `signet log`.
package enum CommandLog {
    /// One receipt; `isUnused` if the proof was given but not confirmed.
    package static func line(_ statement: Statement, isUnused: Bool = false) -> Text {
        let terminal = short(statement.terminal)
        let at: Text = terminal.isEmpty ? "" : " \(terminal)"
        let isOwn = statement.requester.isEmpty || statement.requester == statement.account
        let asker: Text = isOwn ? "" : ", asked by \(statement.requester)"
        let purpose: Text = statement.purpose.isEmpty ? "" : " \"\(statement.purpose)\""
        let server: Text = statement.server.map { ", \(mode(of: $0))" } ?? ""
        let use: Text = isUnused ? ", \(notGranted)" : ""
        return """
            #\(number: statement.counter) \(time(statement.issued.seconds)) \(statement.service)\(at)\(purpose) \
            \(statement.factor)\(server)\(asker)\(use)
            """
    }

    /// A terminal without `/dev/`.
    static func short(_ terminal: Bytes) -> Bytes {
        let device = StaticString("/dev/").bytes
        return terminal.starts(with: device) ? Bytes(terminal.dropFirst(device.count)) : terminal
    }

    /// The time at the start of a line.
    static func time(_ seconds: UInt64) -> Bytes {
        Bytes(Instant(seconds: seconds).text.map { $0 == UInt8(ascii: "T") ? 0x20 : $0 })
    }

    /// After a receipt: the server at which the user also logged in.
    private static func mode(of server: ServerLines) -> Text {
        switch server.mode {
        case .online: "asked \(server.url) as \(server.account)"
        case .offline: "not asked: \(server.url) (as \(server.account))"
        }
    }

    /// After a receipt whose proof was not used.
    private static let notGranted: Text = "not granted"

    /// Below such receipts.
    package static let unused: Text =
        "'not granted': the finger matched, but the request was not granted afterwards"

    /// Below receipts of logins at servers.
    package static let asked: Text =
        "'asked' does not mean approved: the server's answer is in its own audit trail"

    /// A receipt that cannot be read.
    package static func unreadable(position: UInt64) -> Text {
        "the receipt at position \(number: position) cannot be read: see 'signet log --verify'"
    }

    /// The verification found no fault.
    package static func intact(_ count: UInt64) -> Text {
        switch count {
        case 0: "there are no receipts, and none is missing"
        case 1: "1 receipt: its signature is valid, and nothing is missing"
        default: "\(number: count) receipts: all signatures are valid, and nothing is missing"
        }
    }
    /// After the faults that were found.
    package static let notIntact: Text = "from that point on, the receipts prove nothing"

    /// Before a receipt's fault; the number is nil if it cannot be read.
    package static func receipt(position: UInt64, counter: UInt64?, problem: Text) -> Text {
        guard let counter else {
            return "receipt at position \(number: position): \(problem)"
        }
        return "receipt #\(number: counter): \(problem)"
    }

    /// It does not have the form of a receipt.
    package static let malformed: Text = "it cannot be read"
    /// It belongs to another account.
    package static let anotherAccount: Text = "it belongs to another account"
    /// Its key is unknown.
    package static let unknownSigner: Text = "it was signed by a key that was never registered"
    /// Its signature is wrong.
    package static let badSignature: Text = "its signature is invalid: it was altered"
    /// It breaks the chain.
    package static let broken: Text =
        "it does not follow the receipt before it: one was altered, removed or inserted"
    /// Its counter is too small.
    package static let counterNotGreater: Text =
        "its number is not greater than that of the receipt before it"
    /// The newest receipts were removed.
    package static func tailMissing(_ counter: UInt64) -> Text {
        "receipt #\(number: counter), the newest known to the service, is missing"
    }
    /// The daemon did not report the newest receipt.
    package static let noEnd: Text = "the service did not report where the receipts end"
    /// A signer that cannot be read.
    package static let badSigners: Text =
        "the list of registered keys cannot be read: see 'signet log --signers'"
}
