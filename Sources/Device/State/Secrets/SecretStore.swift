// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

/// A secret as stored on disk, still sealed, with its record authenticated.
package struct StoredSecret: Equatable, Sendable {
    /// The item's id, 16 random bytes.
    package let identifier: SecretID
    /// The name that the user gave it.
    package var name: [UInt8] { record.name }
    /// The length of the secret in bytes.
    package var size: Int { record.size }
    /// The time at which it was stored.
    package var created: Instant { record.created }
    /// The encrypted content, which the key that a vault has opened decrypts.
    package var content: [UInt8] { record.content }
    /// The vault that opens it; if there are two sealings, the vault of the second.
    package var vault: VaultKind { record.sealings[record.sealings.count - 1].vault }

    let record: SecretRecord

    /// Whether it was sealed to these fingers, according to the record.
    ///
    /// Only opening it proves that.
    package func fits(_ state: EnrolmentState) -> Bool { sealing(for: state) != nil }

    /// Returns its key as sealed to these fingers, with the vault; nil if there is no such sealing.
    package func sealing(for state: EnrolmentState) -> (vault: VaultKind, key: [UInt8])? {
        record.sealings.first { $0.enrolment == state }.map { ($0.vault, $0.key) }
    }
}

/// A secret whose file exists but cannot be used.
package struct DamagedSecret: Equatable, Sendable {
    /// The name in the record, which is not authenticated; the id in hexadecimal if the record
    /// cannot be parsed.
    package let name: [UInt8]
    let identifier: SecretID
}

/// All secrets of an account, ordered by name.
package struct SecretList: Sendable {
    /// The authenticated secrets.
    package let intact: [StoredSecret]
    /// The secrets whose files are altered, truncated, or from another account or machine.
    package let damaged: [DamagedSecret]

    /// Returns how many secrets are sealed to these fingers, according to their records.
    package func count(fitting state: EnrolmentState) -> Int { intact.count { $0.fits(state) } }
}

/// Where a new secret is stored, or why it cannot be.
package enum SecretSlot: Equatable, Sendable {
    /// A new item with this id.
    case new(SecretID)
    /// The place of the existing secret with this id.
    case over(SecretID)
    /// A secret with this name exists already and must not be replaced.
    case taken
    /// The account has the maximum number of secrets.
    case full
}

/// Stores an account's secrets as files in `secrets/`, named after a random id.
///
/// It cannot open a secret: a vault does that, for the right fingers. It authenticates each record,
/// so that a swapped or altered one is reported as damaged.
package struct SecretStore: Sendable {
    /// The maximum number of secrets of an account.
    package static let limit = Limit.secrets
    static let directoryName = "secrets"

    let account: AccountState

    /// Reads all secrets, intact and damaged.
    package func list() throws(StoreFault) -> SecretList {
        guard let directory = try directory() else { return SecretList(intact: [], damaged: []) }
        let mark = try mark()
        var intact: [StoredSecret] = []
        var damaged: [DamagedSecret] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            // Files with other names are not ours.
            guard let identifier = SecretID(hexadecimal: Array(name.utf8))
            else { continue }
            switch try load(identifier, in: directory, mark: mark) {
            case .intact(let secret): intact.append(secret)
            case .damaged(let claimed):
                damaged.append(
                    DamagedSecret(name: claimed ?? Array(name.utf8), identifier: identifier))
            case .gone: break
            }
        }
        return SecretList(
            intact: intact.sorted { $0.name.lexicographicallyPrecedes($1.name) },
            damaged: damaged.sorted { $0.name.lexicographicallyPrecedes($1.name) })
    }

    /// Reads one secret by its id; nil if there is none.
    ///
    /// Throws `.damaged` if its file cannot be used.
    package func secret(_ identifier: SecretID) throws(StoreFault) -> StoredSecret? {
        guard let directory = try directory() else { return nil }
        switch try load(identifier, in: directory, mark: try mark()) {
        case .intact(let secret): return secret
        case .damaged: throw .damaged(path: directory.path + "/" + fileName(identifier))
        case .gone: return nil
        }
    }

    /// Returns where to store a secret with this name.
    ///
    /// The id of an existing secret with the name, damaged or not, is reused.
    package func place(for name: [UInt8], replacing: Bool) throws(StoreFault) -> SecretSlot {
        let list = try list()
        if let old = list.intact.first(where: { $0.name == name }) {
            return replacing ? .over(old.identifier) : .taken
        }
        if let old = list.damaged.first(where: { $0.name == name }) {
            return replacing ? .over(old.identifier) : .taken
        }
        guard list.intact.count + list.damaged.count < Self.limit else { return .full }
        return .new(try random())
    }

    /// Returns the context that a secret must be sealed to and opened with.
    package func context(
        _ identifier: SecretID, name: [UInt8], state: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.sealedName, uid: account.uid, item: identifier,
            relyingParty: "local", use: .secret(name: name), enrolment: state)
        guard let context else { throw .unsupportedName }
        return context
    }

    /// Writes a secret that a vault has sealed to a context.
    ///
    /// A previous secret with this id remains complete until the new one is on disk.
    package func keep(
        _ sealed: SealedContent, as identifier: SecretID, name: [UInt8], by vault: VaultKind,
        context: SealingContext, now: Instant
    ) throws(StoreFault) {
        let sealing = SecretSealing(vault: vault, enrolment: context.enrolment, key: sealed.key)
        let record = SecretRecord(
            name: name, created: now, sealings: [sealing], content: sealed.content)
        guard (1...Limit.secret).contains(record.size) else {
            throw .damaged(path: fileName(identifier))
        }
        try write(record, identifier: identifier)
    }

    /// Stores a secret whose key another vault has sealed again for the same fingers.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, unless the file still holds the secret as
    /// it was read.
    package func keep(
        _ secret: StoredSecret, resealed key: [UInt8], by vault: VaultKind,
        enrolment: EnrolmentState
    ) throws(StoreFault) {
        guard try self.secret(secret.identifier) == secret else { throw .changedMeanwhile }
        let sealing = SecretSealing(vault: vault, enrolment: enrolment, key: key)
        let record = SecretRecord(
            name: secret.name, created: secret.created, sealings: [sealing],
            content: secret.content)
        try write(record, identifier: secret.identifier)
    }

    /// Deletes the secret with this name or, if there is none, the damaged ones that claim the
    /// name.
    ///
    /// Returns false if nothing was deleted.
    package func delete(_ name: [UInt8]) throws(StoreFault) -> Bool {
        guard let directory = try directory() else { return false }
        let list = try list()
        let intact = list.intact.filter { $0.name == name }.map(\.identifier)
        let damaged = list.damaged.filter { $0.name == name }.map(\.identifier)
        let gone = intact.isEmpty ? damaged : intact
        try files { () throws(FileFault) in
            for identifier in gone { try directory.remove(fileName(identifier)) }
        }
        return !gone.isEmpty
    }
}

extension SecretStore {
    private enum Loaded {
        case intact(StoredSecret)
        /// The file cannot be used.
        ///
        /// Holds the name in the record, if it can be parsed.
        case damaged([UInt8]?)
        case gone
    }

    private func load(
        _ identifier: SecretID, in directory: Directory, mark: RecordMark
    ) throws(StoreFault) -> Loaded {
        let record: SecretRecord?
        do throws(StoreFault) {
            record = try directory.record(fileName(identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return .damaged(nil)
        }
        guard let record else { return .gone }
        do throws(VaultError) {
            try mark.check(
                record.mark, record: record.marked, account: account.sealedName, uid: account.uid,
                item: identifier)
        } catch {
            guard error == .doesNotOpen else { throw .vault(error) }
            return .damaged(record.name)
        }
        return .intact(StoredSecret(identifier: identifier, record: record))
    }

    /// Marks a record and writes it durably, replacing a previous one with the same id.
    private func write(_ record: SecretRecord, identifier: SecretID) throws(StoreFault) {
        var record = record
        let bytes = record.marked
        let mark = try mark()
        record.mark = try sealed { () throws(VaultError) in
            try mark.make(
                bytes, account: account.sealedName, uid: account.uid, item: identifier)
        }
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(record, as: fileName(identifier))
    }

    private func mark() throws(StoreFault) -> RecordMark {
        try sealed { () throws(VaultError) in try RecordMark(host: account.host) }
    }

    /// Returns the directory; nil if no secret was ever stored.
    private func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: SecretID) -> String {
        String(decoding: identifier.hexadecimal, as: UTF8.self)
    }
}
