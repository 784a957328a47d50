import Crypto
import Posix
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

/// A print that counts and whose file is gone or cannot be used.
package struct DamagedPrint: Equatable, Sendable {
    /// The print's id, 16 bytes.
    package let identifier: [UInt8]
    /// Which finger the account's record says it is, if it does; it is not authenticated.
    package let finger: Finger?
}

extension StoredPrint {
    /// A print by its record and the template in it, open.
    init(
        _ identifier: [UInt8], _ record: PrintRecord, _ secret: SecretBytes
    ) throws(VaultError) {
        self.identifier = identifier
        finger = record.finger
        reader = record.reader
        added = record.added
        template = secret.withBytes { span in
            unsafe span.withUnsafeBytes { unsafe Array($0) }
        }
        let digest: [UInt8]
        do throws(CryptoFault) {
            digest = try SHA256.digest(template)
        } catch { throw .crypto(error) }
        enrolled = EnrolledPrint(
            identifier: identifier, finger: record.finger.name.description,
            reader: String(decoding: record.reader, as: UTF8.self), templateDigest: digest)
    }
}

/// The record of a print: five lines that describe it, then the sealed template as it is.
///
/// Not in base64 as other records have their bytes: templates are long, and are read at each login.
struct PrintRecord: Record {
    static let cap = sealedLimit + 2_048
    /// The most bytes that a reader's name can have.
    static let readerLimit = 256

    let finger: Finger
    let reader: [UInt8]
    let added: Instant
    let sealed: [UInt8]

    private static let sealedLimit = TemplateSeal.templateLimit + AESGCM.overhead
    private static let lineCount = 5

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
        lines.put("template", number: UInt64(sealed.count))
        return lines.text + sealed
    }

    init(contents: [UInt8]) throws(LineFault) {
        var start = 0
        for _ in 0..<PrintRecord.lineCount {
            let newline = UInt8(ascii: "\n")
            guard let end = contents[start...].firstIndex(of: newline) else { throw .truncated }
            start = end + 1
        }
        var lines = LineReader(Array(contents[..<start]))
        try lines.version("signet-print")
        finger = try lines.finger("finger")
        reader = try lines.value("reader", cap: Self.readerLimit)
        added = try lines.instant("added")
        let count = try lines.number("template")
        try lines.end()
        guard count <= PrintRecord.sealedLimit else { throw .tooLong }
        guard contents.count - start >= count else { throw .truncated }
        guard contents.count - start == count else { throw .trailing }
        sealed = Array(contents[start...])
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
