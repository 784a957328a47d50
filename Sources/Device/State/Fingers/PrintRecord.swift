// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

/// One enrolled finger with its opened template.
package struct StoredPrint: Sendable {
    /// The print's id, 16 random bytes.
    package let identifier: PrintID
    /// The finger.
    package let finger: Finger
    /// The name of the reader that it was enrolled on, as libfprint reports it.
    package let reader: [UInt8]
    /// The time of enrolment.
    package let added: Instant
    /// The template as libfprint serialised it.
    package let template: [UInt8]
    /// The values that the enrolment state depends on.
    let enrolled: EnrolledPrint
}

/// A listed print whose file is missing or cannot be opened.
package struct DamagedPrint: Equatable, Sendable {
    /// The print's id.
    package let identifier: PrintID
    /// The finger according to the account's record, which is not authenticated; nil if unknown.
    package let finger: Finger?
}

extension StoredPrint {
    /// Creates a print from its record and the opened template.
    init(
        _ identifier: PrintID, record: PrintRecord, secret: SecretBytes
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

/// The record of a print: descriptive lines, followed by the sealed template in binary.
///
/// Version 1 has five lines and is sealed with the host's template key; version 2 adds a line that
/// names the key. The template is not encoded in base64, unlike the bytes in other records, because
/// templates are long and are read at each login. The seal authenticates finger and reader with the
/// template; the time of enrolment is not authenticated.
struct PrintRecord: Record {
    static let cap = sealedLimit + linesLimit
    /// The maximum length of a reader's name in bytes.
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
            lines.put("key", id: identifier)
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
        case 2: key = .kept(try lines.identifier("key"))
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
    /// Reads a finger by its name.
    mutating func finger(_ name: StaticString) throws(LineFault) -> Finger {
        let text = try value(name, cap: 16)
        guard let finger = Finger.allCases.first(where: { $0.name.bytes == text }) else {
            throw .malformed
        }
        return finger
    }
}
