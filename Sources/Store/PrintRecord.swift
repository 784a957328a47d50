// SPDX-License-Identifier: Apache-2.0
import Crypto
import LoginProtocol
import Posix
import SignedFormats
import Vault

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

/// The record of a print: lines that describe it, then the sealed template as it is.
///
/// Version 1 has five lines, and is sealed with the host's key; version 2 names the key in one more.
/// Not in base64 as other records have their bytes: templates are long, and are read at each login.
struct PrintRecord: Record {
    static let cap = sealedLimit + linesLimit
    /// The most bytes that a reader's name can have.
    static let readerLimit = 256

    let finger: Finger
    let reader: [UInt8]
    let added: Instant
    let key: TemplateKeyID
    let sealed: [UInt8]

    private static let sealedLimit = TemplateSeal.templateLimit + AESGCM.overhead
    private static let linesLimit = 2_048

    init(
        finger: Finger, reader: [UInt8], added: Instant, key: TemplateKeyID, sealed: [UInt8]
    ) {
        self.finger = finger
        self.reader = reader
        self.added = added
        self.key = key
        self.sealed = sealed
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        switch key {
        case .host: lines.put("signet-print", number: 1)
        case .kept(let identifier):
            lines.put("signet-print", number: 2)
            lines.put("key", Hexadecimal.encode(identifier))
        }
        lines.put("finger", finger.name.bytes)
        lines.put("reader", reader)
        lines.put("added", added.text)
        lines.put("template", number: UInt64(sealed.count))
        return lines.text + sealed
    }

    init(contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        switch try lines.number("signet-print") {
        case 1: key = .host
        case 2: key = .kept(try lines.hexadecimal("key", count: 16))
        default: throw .malformed
        }
        finger = try lines.finger("finger")
        reader = try lines.value("reader", cap: Self.readerLimit)
        added = try lines.instant("added")
        let count = try lines.number("template")
        guard count <= PrintRecord.sealedLimit else { throw .tooLong }
        let rest = lines.rest
        guard rest.count >= count else { throw .truncated }
        guard rest.count == count else { throw .trailing }
        sealed = Array(rest)
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
