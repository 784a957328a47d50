// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// A file that says the system's locale: /etc/locale.conf, locale.conf(5), and Debian's
/// /etc/default/locale.
package struct LocaleFile: Sendable {
    /// The files, the first that says something counts.
    package static var paths: [StaticString] { ["/etc/locale.conf", "/etc/default/locale"] }
    /// The length in bytes that such a file does not have.
    package static let maximumLength = 4_096

    private let file: Bytes

    /// Of a file's bytes.
    package init(_ file: Bytes) { self.file = file }

    /// What a line `NAME=value` says last, without quotes around it; nil where there is none.
    package func value(_ name: StaticString) -> Bytes? {
        var value: Bytes?
        let beginning = name.bytes + [UInt8(ascii: "=")]
        for line in file.parts(between: UInt8(ascii: "\n")) where line.starts(with: beginning) {
            value = LocaleFile.unquoted(Bytes(line.dropFirst(beginning.count)))
        }
        return value
    }

    private static func unquoted(_ value: Bytes) -> Bytes {
        guard let quote = value.first, value.count >= 2, value.last == quote,
            quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
        else { return value }
        return Bytes(value.dropFirst().dropLast())
    }
}
