import Crypto
import Statement
import Vault
import Wire

/// One enrolled finger, open.
package struct StoredPrint: Sendable {
    /// The print's id, 16 bytes, random.
    package let identifier: [UInt8]
    /// Which finger.
    package let finger: Finger
    /// The reader that it was enrolled on, as the reader's library names it.
    package let reader: [UInt8]
    /// When it was enrolled.
    package let added: Instant
    /// The template as the reader's library wrote it.
    package let template: [UInt8]
    /// What the enrolment state takes of it.
    let enrolled: EnrolledPrint
}

/// A print whose file is there and cannot be used.
package struct DamagedPrint: Equatable, Sendable {
    /// The file's name: the print's id in hexadecimal, if it is one of ours.
    package let name: String
    /// Which finger the record says it is, where that much can be read; it is not authenticated.
    package let finger: Finger?
}

/// The record of a print: what is said about it, and the sealed template.
struct PrintRecord: Record {
    static let cap = (TemplateSeal.templateLimit + 64) / 3 * 4 + 2_048

    let finger: Finger
    let reader: [UInt8]
    let added: Instant
    let sealed: [UInt8]

    init(finger: Finger, reader: [UInt8], added: Instant, sealed: [UInt8]) {
        self.finger = finger
        self.reader = reader
        self.added = added
        self.sealed = sealed
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-print", number: 1)
        lines.put("finger", finger.name.bytes)
        lines.put("reader", reader)
        lines.put("added", added.text)
        lines.put("template", Base64.encode(sealed, .url))
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-print")
        finger = try lines.finger("finger")
        reader = try lines.value("reader", cap: 256)
        added = try lines.instant("added")
        sealed = try lines.bytes("template", cap: TemplateSeal.templateLimit + AESGCM.overhead)
    }
}

extension LineReader {
    /// A finger by its name.
    mutating func finger(_ name: StaticString) throws(LineFault) -> Finger {
        let text = try value(name, cap: 16)
        guard let finger = Finger.allCases.first(where: { $0.name.bytes == text }) else {
            throw .malformed
        }
        return finger
    }
}
