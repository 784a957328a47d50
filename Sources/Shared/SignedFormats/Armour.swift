// SPDX-License-Identifier: Apache-2.0
/// The PEM-like armour of an OpenSSH signature, as `ssh-keygen -Y verify` reads it;
/// PROTOCOL.sshsig.
///
/// Only one text is accepted for a blob: LF line ends, lines of exactly 70 characters except the
/// last, and nothing before or after the armour. The blob itself is not parsed; `SSHSignature` does
/// that.
package enum Armour {
    private static let begin: StaticString = "-----BEGIN SSH SIGNATURE-----\n"
    private static let end: StaticString = "-----END SSH SIGNATURE-----\n"
    private static let width = 70

    /// Returns the armoured text of a signature's blob: base64 in lines of 70 characters that end
    /// with LF.
    package static func wrap(_ blob: [UInt8]) -> [UInt8] {
        let text = Base64.encode(blob, alphabet: .standard)
        var lines = begin.bytes
        for start in stride(from: 0, to: text.count, by: width) {
            lines += text[start..<min(start + width, text.count)]
            lines.append(UInt8(ascii: "\n"))
        }
        return lines + end.bytes
    }

    /// Returns the blob of an armoured text; nil unless the text is exactly what `wrap` returns for
    /// it.
    package static func unwrap(_ text: [UInt8]) -> [UInt8]? {
        guard text.starts(with: begin.bytes), text.count >= begin.bytes.count + end.bytes.count
        else { return nil }
        let body = text.dropFirst(begin.bytes.count).dropLast(end.bytes.count)
        guard
            let blob = Base64.decode(body.filter { $0 != UInt8(ascii: "\n") }, alphabet: .standard),
            wrap(blob) == text
        else { return nil }
        return blob
    }
}

/// The text of a receipt: a statement, followed by its armoured signature.
///
/// Neither part is verified here. A statement never contains a line that begins with a hyphen, so
/// the first such line starts the armour and the split is unambiguous.
package enum Receipt {
    /// Joins a statement's text and its signature's blob into a receipt.
    package static func text(statement: [UInt8], signature blob: [UInt8]) -> [UInt8] {
        statement + Armour.wrap(blob)
    }

    /// Splits a receipt into the statement's text and the signature's blob.
    ///
    /// Returns nil unless everything from the first line with a leading hyphen to the end is one
    /// canonical armour. The statement's text is returned without being parsed, and may be empty.
    package static func split(_ text: [UInt8]) -> (statement: [UInt8], signature: [UInt8])? {
        // Each line of a statement begins with its name, so none begins with a hyphen.
        var lineStart = 0
        for (index, byte) in text.enumerated() {
            if index == lineStart, byte == UInt8(ascii: "-") {
                guard let blob = Armour.unwrap([UInt8](text[index...])) else { return nil }
                return ([UInt8](text[..<index]), blob)
            }
            if byte == UInt8(ascii: "\n") { lineStart = index + 1 }
        }
        return nil
    }
}
