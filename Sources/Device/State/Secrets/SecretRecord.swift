// SPDX-License-Identifier: Apache-2.0
import Authorization
import LoginProtocol
import Sealing
import SignedFormats

/// One sealing of a secret: the key of its content, sealed by a vault to one set of fingers.
struct SecretSealing: Equatable, Sendable {
    let vault: VaultKind
    let enrolment: EnrolmentState
    let key: [UInt8]
}

/// The record of a secret: descriptive lines, followed by the encrypted content and the mark in
/// binary.
///
/// The mark (`RecordMark`) authenticates everything before it. A record may hold two sealings of
/// the same key, so that one of them opens whichever of two sets of prints is in effect; this
/// version writes one and reads both forms.
struct SecretRecord: Record, Equatable {
    static let cap = contentLimit + RecordMark.count + linesLimit

    let name: [UInt8]
    let created: Instant
    let sealings: [SecretSealing]
    let content: [UInt8]
    var mark: [UInt8] = []

    private static let contentLimit = Limit.secret + SealedContent.overhead
    /// Five lines, and four for each sealing; a key of maximum length takes 1,366 characters.
    private static let linesLimit = 4_096
    private static let sealingsLimit: UInt64 = 2

    init(
        name: [UInt8], created: Instant, sealings: [SecretSealing], content: [UInt8]
    ) {
        self.name = name
        self.created = created
        self.sealings = sealings
        self.content = content
    }

    /// The length of the secret in bytes.
    var size: Int { content.count - SealedContent.overhead }

    /// Everything that the mark authenticates: the record without the mark.
    var marked: [UInt8] {
        var lines = LineWriter()
        lines.put("signet-secret", number: 1)
        lines.put("name", name)
        lines.put("created", created.text)
        lines.put("size", number: UInt64(size))
        lines.put("sealings", number: UInt64(sealings.count))
        for sealing in sealings {
            lines.put("vault", Array(sealing.vault.rawValue.utf8))
            lines.put(enrolment: sealing.enrolment)
            lines.put("key", Base64.encode(sealing.key, alphabet: .url))
        }
        return lines.text + content
    }

    func encoded() -> [UInt8] { marked + mark }

    init(contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        try lines.version("signet-secret")
        name = try lines.value("name", cap: Limit.secretName)
        guard SecretName.fault(name) == nil else { throw .malformed }
        created = try lines.instant("created")
        let size = try lines.number("size")
        guard (1...UInt64(Limit.secret)).contains(size) else { throw .malformed }
        let count = try lines.number("sealings")
        guard (1...Self.sealingsLimit).contains(count) else { throw .malformed }
        var sealings: [SecretSealing] = []
        for _ in 0..<count { sealings.append(try SecretSealing(parsing: &lines)) }
        self.sealings = sealings
        let rest = lines.rest
        let length = Int(size) + SealedContent.overhead
        guard rest.count >= length + RecordMark.count else { throw .truncated }
        guard rest.count == length + RecordMark.count else { throw .trailing }
        content = Array(rest.prefix(length))
        mark = Array(rest.suffix(RecordMark.count))
    }
}

extension SecretSealing {
    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        vault = try lines.vault("vault")
        enrolment = try lines.enrolment()
        key = try lines.bytes("key", cap: VaultLimit.sealed)
        guard !key.isEmpty else { throw .malformed }
    }
}
