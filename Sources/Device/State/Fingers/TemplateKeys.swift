// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import SignedFormats
import Synchronization

/// Identifies the key that a template is sealed with.
package enum TemplateKeyID: Equatable, Sendable {
    /// The key that is derived from the host secret alone.
    ///
    /// It is used with the file vault.
    case host
    /// A random key that the TPM vault seals.
    case kept(StoredTemplateKeyID)
}

/// A template key as stored, sealed by a vault to `SealingContext.templates`.
package struct SealedTemplateKey: Equatable, Sendable {
    /// The key's id, 16 random bytes; prints refer to it.
    package let identifier: StoredTemplateKeyID
    /// The vault that opens it.
    package let vault: VaultKind
    /// The sealed key of 32 bytes.
    package let sealed: [UInt8]

    /// Creates a value from newly sealed parts.
    package init(identifier: StoredTemplateKeyID, vault: VaultKind, sealed: [UInt8]) {
        self.identifier = identifier
        self.vault = vault
        self.sealed = sealed
    }
}

/// The keys that templates are sealed with.
///
/// The host's key is always open. Each key that a vault seals has a file in
/// `private/template-keys/`, named after its id; the daemon opens it and passes the result to
/// `settle`. Open keys remain in memory until the end of the process or until `close()`.
/// Thread-safe.
package final class TemplateKeys: Sendable {
    /// The status of a stored key.
    private enum KeyStatus {
        case open(TemplateSeal)
        case closed(VaultError)
    }

    private let directory: Directory
    private let host: TemplateSeal
    private let statuses = Mutex<[StoredTemplateKeyID: KeyStatus]>([:])

    init(directory: Directory, host: HostSecret) throws(StoreFault) {
        self.directory = directory
        self.host = try sealed { () throws(VaultError) in try TemplateSeal(host: host) }
    }

    /// Returns the ids of all stored keys.
    package func identifiers() throws(StoreFault) -> [StoredTemplateKeyID] {
        try files { () throws(FileFault) in try directory.list() }
            .compactMap { StoredTemplateKeyID(hexadecimal: Array($0.utf8)) }
    }

    /// Returns a stored key, still sealed; nil if it was removed.
    ///
    /// Throws `.damaged` if its file is not in canonical form.
    package func key(_ identifier: StoredTemplateKeyID) throws(StoreFault) -> SealedTemplateKey? {
        let record: TemplateKeyRecord? = try directory.record(Self.fileName(identifier))
        return record.map {
            SealedTemplateKey(identifier: identifier, vault: $0.vault, sealed: $0.sealed)
        }
    }

    /// Stores a new key durably and marks it as open.
    package func keep(_ key: SealedTemplateKey, opened: TemplateSeal) throws(StoreFault) {
        try directory.keep(
            TemplateKeyRecord(vault: key.vault, sealed: key.sealed),
            as: Self.fileName(key.identifier))
        settle(key.identifier, outcome: .success(opened))
    }

    /// Deletes a key.
    ///
    /// The caller ensures that no print is sealed with it, since such a print could no longer
    /// be opened.
    package func remove(_ identifier: StoredTemplateKeyID) throws(StoreFault) {
        try files { () throws(FileFault) in
            try directory.remove(Self.fileName(identifier))
        }
        statuses.withLock { $0[identifier] = nil }
    }

    /// Records the result of opening a key, replacing any earlier result.
    package func settle(
        _ identifier: StoredTemplateKeyID, outcome: Result<TemplateSeal, VaultError>
    ) {
        statuses.withLock { statuses in
            switch outcome {
            case .success(let seal): statuses[identifier] = .open(seal)
            case .failure(let error): statuses[identifier] = .closed(error)
            }
        }
    }

    /// Whether a key is open.
    package func isOpen(_ identifier: StoredTemplateKeyID) -> Bool {
        statuses.withLock { statuses in
            if case .open = statuses[identifier] { true } else { false }
        }
    }

    /// Closes all keys; each must be opened again.
    package func close() {
        statuses.withLock { $0 = [:] }
    }

    /// Returns the seal for a key that is open.
    ///
    /// Throws the error of opening the key, if it was tried. `.doesNotOpen` is final, and also
    /// means that the key was removed; any other error may pass.
    func seal(_ identifier: TemplateKeyID) throws(VaultError) -> TemplateSeal {
        switch identifier {
        case .host: return host
        case .kept(let identifier):
            switch statuses.withLock({ $0[identifier] }) {
            case .open(let seal): return seal
            case .closed(let error): throw error
            case nil: throw closure(of: identifier)
            }
        }
    }

    /// Returns the reason why a key is closed that was not tried: it was removed, or not opened
    /// yet.
    private func closure(of identifier: StoredTemplateKeyID) -> VaultError {
        do throws(StoreFault) {
            if try key(identifier) == nil { return .doesNotOpen }
        } catch { return .trouble(.failed(error.description)) }
        return .trouble(.failed("the key of the fingerprints was not opened yet"))
    }

    private static func fileName(_ identifier: StoredTemplateKeyID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }
}

extension StateDirectory {
    /// Returns the ids of all keys that a print of any account uses.
    ///
    /// Throws if a print cannot be read, since its key is then unknown.
    package func templateKeysInUse() throws(StoreFault) -> Set<StoredTemplateKeyID> {
        var found: Set<StoredTemplateKeyID> = []
        let names = try files { () throws(FileFault) in try accountsRoot.list() }
        for uid in names.compactMap({ UInt32($0) }) {
            guard let account = try account(uid: uid) else { continue }
            for listed in try account.record().prints {
                let file: PrintRecord? = try account.printsDirectory?.record(listed.fileName)
                if case .kept(let key) = file?.key { found.insert(key) }
            }
        }
        return found
    }
}

/// The record of a template key: the vault, and the sealed key.
struct TemplateKeyRecord: LineRecord, Equatable {
    static let cap = 2_048

    let vault: VaultKind
    let sealed: [UInt8]

    init(vault: VaultKind, sealed: [UInt8]) {
        self.vault = vault
        self.sealed = sealed
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-template-key", number: 1)
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put("sealed", Base64.encode(sealed, alphabet: .url))
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-template-key")
        vault = try lines.vault("vault")
        sealed = try lines.bytes("sealed", cap: VaultLimit.sealed)
        guard !sealed.isEmpty else { throw .malformed }
    }
}
