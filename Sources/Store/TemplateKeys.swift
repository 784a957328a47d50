// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Synchronization
import Vault

/// Which key a template is sealed with.
package enum TemplateKeyID: Equatable, Sendable {
    /// The one that the host secret alone gives: the file vault's.
    case host
    /// A random one that the TPM keeps, by its id of 16 bytes.
    case kept([UInt8])
}

/// A key of templates as it lies on disk, sealed by a vault to `SealingContext.templates`.
package struct SealedTemplateKey: Equatable, Sendable {
    /// Its id, 16 bytes, random; prints name it.
    package let identifier: [UInt8]
    /// The vault that opens it.
    package let vault: VaultKind
    /// What that vault sealed: 32 bytes.
    package let sealed: [UInt8]

    /// A key that was just sealed.
    package init(identifier: [UInt8], vault: VaultKind, sealed: [UInt8]) {
        self.identifier = identifier
        self.vault = vault
        self.sealed = sealed
    }
}

/// The keys that templates are sealed with: the host's, which is always there, and those that the
/// TPM keeps, which are open once the daemon has opened them.
///
/// `private/template-keys/` has a file for each of these, named after its id. What is open stays so,
/// in memory only, to the end of the process or until `close()`.
package final class TemplateKeys: Sendable {
    /// How a kept key stands.
    private enum KeyStatus {
        case open(TemplateSeal)
        case closed(VaultError)
    }

    private let directory: Directory
    private let host: TemplateSeal
    private let standings = Mutex<[[UInt8]: KeyStatus]>([:])

    init(directory: Directory, host: HostSecret) throws(StoreFault) {
        self.directory = directory
        self.host = try sealed { () throws(VaultError) in try TemplateSeal(host: host) }
    }

    /// The ids of all that are kept.
    package func identifiers() throws(StoreFault) -> [[UInt8]] {
        try files { () throws(FileFault) in try directory.list() }
            .compactMap { Hexadecimal.decode(Array($0.utf8)) }.filter { $0.count == 16 }
    }

    /// A key as it is kept; nil where it is gone.
    ///
    /// Throws `.damaged` where its file is not in its one form.
    package func key(_ identifier: [UInt8]) throws(StoreFault) -> SealedTemplateKey? {
        let record: TemplateKeyRecord? = try directory.record(Self.fileName(identifier))
        return record.map {
            SealedTemplateKey(identifier: identifier, vault: $0.vault, sealed: $0.sealed)
        }
    }

    /// Keeps a key that was just made, durably, and has it open.
    package func keep(_ key: SealedTemplateKey, opened: TemplateSeal) throws(StoreFault) {
        try directory.keep(
            TemplateKeyRecord(vault: key.vault, sealed: key.sealed),
            as: Self.fileName(key.identifier))
        settle(key.identifier, .success(opened))
    }

    /// Removes a key that no print is sealed with.
    package func remove(_ identifier: [UInt8]) throws(StoreFault) {
        try files { () throws(FileFault) in
            try directory.remove(Self.fileName(identifier))
        }
        standings.withLock { $0[identifier] = nil }
    }

    /// Says what came of opening a key.
    package func settle(_ identifier: [UInt8], _ outcome: Result<TemplateSeal, VaultError>) {
        standings.withLock { standings in
            switch outcome {
            case .success(let seal): standings[identifier] = .open(seal)
            case .failure(let error): standings[identifier] = .closed(error)
            }
        }
    }

    /// Whether a key is open.
    package func isOpen(_ identifier: [UInt8]) -> Bool {
        standings.withLock { standings in
            if case .open = standings[identifier] { true } else { false }
        }
    }

    /// Forgets what is open: each key has to be opened again.
    package func close() {
        standings.withLock { $0 = [:] }
    }

    /// What seals and opens with a key.
    ///
    /// Throws why the vault did not open it; `.doesNotOpen` is for good, all else may pass.
    func seal(_ identifier: TemplateKeyID) throws(VaultError) -> TemplateSeal {
        switch identifier {
        case .host: return host
        case .kept(let identifier):
            switch standings.withLock({ $0[identifier] }) {
            case .open(let seal): return seal
            case .closed(let error): throw error
            case nil: throw closure(of: identifier)
            }
        }
    }

    /// Why a key is closed that nobody has tried to open: it is gone, or its turn will come.
    private func closure(of identifier: [UInt8]) -> VaultError {
        do throws(StoreFault) {
            if try key(identifier) == nil { return .doesNotOpen }
        } catch { return .trouble(.failed(error.description)) }
        return .trouble(.failed("the key of the fingerprints was not opened yet"))
    }

    private static func fileName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
    }
}

extension StateDirectory {
    /// The ids of all keys that a print of any account names; throws where one cannot be read, since
    /// nobody knows what it names.
    package func templateKeysInUse() throws(StoreFault) -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
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

/// The record of a key of templates.
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
        lines.put("sealed", Base64.encode(sealed, .url))
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-template-key")
        vault = try lines.vault("vault")
        sealed = try lines.bytes("sealed", cap: VaultLimit.sealed)
        guard !sealed.isEmpty else { throw .malformed }
    }
}
