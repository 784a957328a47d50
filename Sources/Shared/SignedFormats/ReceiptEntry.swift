// SPDX-License-Identifier: Apache-2.0
/// An entry of the receipt log: a receipt and, if the proof was used, a line `granted: COUNTER`.
///
/// The daemon adds the line when it confirms the proof or releases what the touch was for. It is
/// not signed, and stock `ssh-keygen -Y verify` ignores it. Its number must be the counter of its
/// own receipt, and the chain protects both: `previous` of the next receipt is the digest of the
/// whole entry. Receipts of version 1 never have the line.
package struct ReceiptEntry: Equatable, Sendable {
    /// The maximum length of a `granted` line in bytes, including LF.
    package static let markLimit = 30
    private static let label: StaticString = "granted: "
    private static let lineFeed = UInt8(ascii: "\n")

    /// The statement's text.
    package let statement: [UInt8]
    /// The blob of the statement's signature.
    package let signature: [UInt8]
    /// The number in the `granted` line; nil if there is no such line.
    ///
    /// It is not compared with the statement's counter here; use `isWhole(counter:)`.
    package let grantedCounter: UInt64?

    /// Parses an entry; nil unless the bytes are exactly one receipt with at most one `granted`
    /// line.
    ///
    /// Neither the statement nor the signature is parsed or verified.
    package init?(_ bytes: [UInt8]) {
        var text = bytes
        var counter: UInt64?
        if bytes.last == Self.lineFeed {
            let lineStart = bytes.dropLast().lastIndex(of: Self.lineFeed).map { $0 + 1 } ?? 0
            if let found = Self.mark(in: bytes, at: lineStart) {
                counter = found.counter
                text.removeSubrange(lineStart...)
            }
        }
        guard let parts = Receipt.split(text) else { return nil }
        (statement, signature) = parts
        grantedCounter = counter
    }

    /// Whether the `granted` line is absent or has this counter, that of the receipt's statement.
    package func isWhole(counter: UInt64) -> Bool {
        grantedCounter == nil || grantedCounter == counter
    }

    /// Returns the bytes of an entry.
    package static func bytes(
        statement: [UInt8], signature: [UInt8], grantedCounter: UInt64?
    ) -> [UInt8] {
        Receipt.text(statement: statement, signature: signature)
            + (grantedCounter.map { mark($0) } ?? [])
    }

    /// The `granted` line for a receipt with this counter, ended by LF.
    package static func mark(_ counter: UInt64) -> [UInt8] {
        label.bytes + Decimal.encode(counter) + [lineFeed]
    }

    /// Parses the `granted` line that begins at an offset.
    ///
    /// Returns its counter and the offset after its LF; nil unless a complete line of at most
    /// `markLimit` bytes begins there.
    package static func mark(
        in bytes: [UInt8], at start: Int
    ) -> (counter: UInt64, end: Int)? {
        let label = label.bytes
        let window = bytes[min(start, bytes.count)..<min(start + markLimit, bytes.count)]
        guard window.starts(with: label), let end = window.firstIndex(of: lineFeed),
            let counter = Decimal.decode(Array(window[(start + label.count)..<end]))
        else { return nil }
        return (counter, end + 1)
    }
}
