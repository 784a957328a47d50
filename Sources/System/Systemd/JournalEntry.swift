// SPDX-License-Identifier: Apache-2.0
/// The severity of a journal entry; syslog(3).
package enum Priority: UInt8, Sendable {
    case emergency = 0
    case alert = 1
    case critical = 2
    case error = 3
    case warning = 4
    case notice = 5
    case info = 6
    case debug = 7
}

/// The kind of event that an entry reports: 128 bits, written as 32 hex digits in `MESSAGE_ID`.
///
/// It consists of two numbers rather than text, so that it cannot be malformed. Source:
/// `sd-id128(3)`.
package struct MessageID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    /// Creates an id from its two halves.
    package init(_ high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The id as 32 lower-case hex digits.
    package var text: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.utf8.count) + digits
        }.joined()
    }
}

/// A journal entry, whose field names are all valid and whose values may have any content.
package struct JournalEntry: Equatable, Sendable {
    /// A field with a name that journald accepts.
    package struct Field: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// The maximum size of a value in bytes; longer values are truncated.
    package static let valueLimit = 8192

    /// The name under which a field with an invalid name is recorded.
    ///
    /// The field is then not lost, and cannot pass for another one.
    package static let refusedName = "SIGNET_REFUSED_FIELD"

    package let fields: [Field]

    /// Creates an entry with `MESSAGE`, `PRIORITY`, `SYSLOG_IDENTIFIER`, `MESSAGE_ID` and more
    /// fields.
    ///
    /// A field is recorded under `SIGNET_REFUSED_FIELD` if its name does not consist of 1 to 64 of
    /// `A–Z 0–9 _`, begins with a digit or `_`, or is one of the four above. Values over the limit
    /// are truncated.
    package init(
        _ kind: MessageID, priority: Priority, message: String,
        fields: KeyValuePairs<String, String> = [:]
    ) {
        let fixed = [
            Field(name: "MESSAGE", value: Self.cut(message)),
            Field(name: "PRIORITY", value: String(priority.rawValue)),
            Field(name: "SYSLOG_IDENTIFIER", value: "signetd"),
            Field(name: "MESSAGE_ID", value: kind.text),
        ]
        let taken = fixed.map(\.name)
        self.fields =
            fixed
            + fields.map { name, value in
                guard Self.isName(name), !taken.contains(name) else {
                    return Field(name: Self.refusedName, value: Self.cut(name + "=" + value))
                }
                return Field(name: name, value: Self.cut(value))
            }
    }

    /// Whether journald accepts a field of this name from a client; systemd.journal-fields(7).
    package static func isName(_ name: String) -> Bool {
        let bytes = name.utf8
        guard (1...64).contains(bytes.count), let first = bytes.first else { return false }
        guard isUpper(first) else { return false }
        return bytes.allSatisfy { isUpper($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// The entry as one line of printable text: the message, then the priority and its own fields.
    ///
    /// Control characters, line separators and `\` are written as `\x` and hex digits, so that no
    /// value can start another line.
    package var line: String {
        let identity = ["MESSAGE", "SYSLOG_IDENTIFIER", "MESSAGE_ID"]
        let message = fields.first { $0.name == "MESSAGE" }?.value ?? ""
        let others = fields.filter { !identity.contains($0.name) }
            .map { " " + $0.name + "=" + Self.escaped($0.value) }
        return "signetd: " + Self.escaped(message) + others.joined() + "\n"
    }

    private static func isUpper(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func cut(_ value: String) -> String {
        guard value.utf8.count > valueLimit else { return value }
        return String(decoding: value.utf8.prefix(valueLimit), as: UTF8.self)
    }

    /// C1 controls (U+0080 to U+009F) are escaped as well, because they too can move a terminal's
    /// cursor.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar.value {
            case 0..<0x20, 0x5c, 0x7f..<0xa0, 0x2028, 0x2029: text += hexEscape(scalar.value)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func hexEscape(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "\\x" + (digits.utf8.count < 2 ? "0" : "") + digits
    }
}
