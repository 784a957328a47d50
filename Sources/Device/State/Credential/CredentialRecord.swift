// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import LoginProtocol
import Sealing
import SignedFormats

/// The prints at the time a credential was created.
///
/// They explain a change to users and decide nothing.
struct PrintManifest: Equatable, Sendable {
    /// The id of a print and the SHA-256 of its template.
    struct Entry: Equatable, Sendable {
        let identifier: PrintID
        let digest: [UInt8]
    }

    let entries: [Entry]

    init(entries: [Entry]) {
        self.entries = entries
    }

    init(_ enrolment: Enrolment) {
        entries = enrolment.prints.map {
            Entry(identifier: $0.identifier, digest: $0.enrolled.templateDigest)
        }
    }
}

/// A credential as stored.
///
/// It can sign as long as its vault opens the private key.
struct SealedCredential: Equatable, Sendable {
    let identifier: CredentialID
    let created: Instant
    let publicKey: SSHPublicKey
    /// The vault that created the key and opens it.
    let vault: VaultKind
    var sealed: [UInt8]
    /// The enrolment state that the key was created for.
    var enrolment: EnrolmentState
    let host: [UInt8]
    var manifest: PrintManifest
    /// The contents of readers that the key is sealed to as well.
    var storage: [ReaderStorage] = []
}

/// The record `credential`: a credential, or the reason why there no longer is one.
///
/// Version 2 is written. It adds the vault, the contents of readers and the state `changing` to
/// version 1, which is read only by the migration.
enum CredentialRecord: LineRecord, Equatable {
    case sealed(SealedCredential)
    /// A change is in progress.
    ///
    /// The valid credential is the one that fits the present prints.
    case changing(from: SealedCredential?, to: SealedCredential)
    case disabled(since: Instant)
    case destroyed(InvalidationCause, since: Instant)

    static let cap = 1 << 19
    /// The version that is written.
    ///
    /// Version 1 can still be read; see `init(versionOne:)`.
    private static let version: UInt64 = 2

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-credential", number: Self.version)
        switch self {
        case .sealed(let credential):
            lines.put("state", StaticString("sealed").bytes)
            credential.write(to: &lines)
        case .changing(let former, let next):
            lines.put("state", StaticString("changing").bytes)
            lines.put("former", number: former == nil ? 0 : 1)
            former?.write(to: &lines)
            next.write(to: &lines)
        case .disabled(let since):
            lines.put("state", StaticString("disabled").bytes)
            lines.put("since", since.text)
        case .destroyed(let cause, let since):
            lines.put("state", StaticString("destroyed").bytes)
            lines.put("cause", cause.name.bytes)
            lines.put("since", since.text)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try self.init(parsing: &lines, version: Self.version)
    }

    /// Parses version 1, which had only the file vault.
    init(versionOne contents: [UInt8]) throws(LineFault) {
        var lines = LineReader(contents)
        try self.init(parsing: &lines, version: 1)
        try lines.end()
    }

    private init(parsing lines: inout LineReader, version: UInt64) throws(LineFault) {
        guard try lines.number("signet-credential") == version else { throw .malformed }
        switch try lines.value("state", cap: 16) {
        case StaticString("sealed").bytes:
            self = .sealed(try SealedCredential(parsing: &lines, version: version))
        case StaticString("changing").bytes where version == Self.version:
            let hasFormer = try lines.number("former")
            guard hasFormer <= 1 else { throw .malformed }
            let former =
                hasFormer == 0 ? nil : try SealedCredential(parsing: &lines, version: version)
            self = .changing(
                from: former, to: try SealedCredential(parsing: &lines, version: version))
        case StaticString("disabled").bytes:
            self = .disabled(since: try lines.instant("since"))
        case StaticString("destroyed").bytes:
            let name = try lines.value("cause", cap: 32)
            guard let cause = InvalidationCause.allCases.first(where: { $0.name.bytes == name })
            else { throw .malformed }
            self = .destroyed(cause, since: try lines.instant("since"))
        default: throw .malformed
        }
    }
}

extension SealedCredential {
    fileprivate func write(to lines: inout LineWriter) {
        lines.put("credential", id: identifier)
        lines.put("created", created.text)
        lines.put("public", Base64.encode(publicKey.point.bytes, alphabet: .url))
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put("host", Hexadecimal.encode(host))
        lines.put(enrolment: enrolment)
        lines.put("prints", number: UInt64(manifest.entries.count))
        for entry in manifest.entries {
            lines.put("print", id: entry.identifier)
            lines.put("template", Hexadecimal.encode(entry.digest))
        }
        lines.put(storage: storage)
        lines.put("sealed", Base64.encode(sealed, alphabet: .url))
    }

    fileprivate init(
        parsing lines: inout LineReader, version: UInt64
    ) throws(LineFault) {
        identifier = try lines.identifier("credential")
        created = try lines.instant("created")
        guard let key = SSHPublicKey(point: try lines.base64("public", count: 65)) else {
            throw .malformed
        }
        publicKey = key
        vault = version == 1 ? .file : try lines.vault("vault")
        host = try lines.hexadecimal("host", count: 16)
        enrolment = try lines.enrolment()
        let count = try lines.number("prints")
        guard count <= PrintStore.limit else { throw .tooLong }
        var entries: [PrintManifest.Entry] = []
        for _ in 0..<count {
            let identifier: PrintID = try lines.identifier("print")
            let digest = try lines.hexadecimal("template", count: 32)
            entries.append(PrintManifest.Entry(identifier: identifier, digest: digest))
        }
        manifest = PrintManifest(entries: entries)
        storage = version == 1 ? [] : try lines.storage()
        sealed = try lines.bytes("sealed", cap: VaultLimit.sealed)
    }
}

extension InvalidationCause {
    /// The name in a record.
    var name: StaticString {
        switch self {
        case .fingerAdded: "finger-added"
        case .fingerRemoved: "finger-removed"
        case .fingerReplaced: "finger-replaced"
        case .printDamaged: "print-damaged"
        case .credentialDamaged: "credential-damaged"
        case .hostSecretChanged: "host-secret-changed"
        case .fingerAddedOnReader: "finger-added-on-reader"
        case .fingerRemovedOnReader: "finger-removed-on-reader"
        case .readerExchanged: "reader-exchanged"
        case .tpmExchanged: "tpm-exchanged"
        case .accountReplaced: "account-replaced"
        case .passwordReplaced: "password-replaced"
        }
    }
}
