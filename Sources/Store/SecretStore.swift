// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import SignedFormats
import Vault

/// A secret as it was found on disk, whole and in its place.
package struct StoredSecret: Equatable, Sendable {
    /// The item's id, 16 bytes, random.
    package let identifier: [UInt8]
    /// What the account calls it.
    package var name: [UInt8] { record.name }
    /// How many bytes it has.
    package var size: Int { record.size }
    /// When it was kept.
    package var created: Instant { record.created }
    /// The content, to be opened with the key that a vault has opened.
    package var content: [UInt8] { record.content }
    /// The vault that opens it; where an older version kept two sealings, the newer one's.
    package var vault: VaultKind { record.sealings[record.sealings.count - 1].vault }

    let record: SecretRecord

    /// Whether it was sealed to these fingers, as far as the record tells. Opening it tells for sure.
    package func fits(_ state: EnrolmentState) -> Bool { sealing(for: state) != nil }

    /// Its key as a vault has sealed it for these fingers, nil where none has.
    package func sealing(for state: EnrolmentState) -> (vault: VaultKind, key: [UInt8])? {
        record.sealings.first { $0.enrolment == state }.map { ($0.vault, $0.key) }
    }
}

/// A secret whose file is there and cannot be used.
package struct DamagedSecret: Equatable, Sendable {
    /// The name that the record says, where that much can be read; it is not authenticated. Else the
    /// id in hexadecimal.
    package let name: [UInt8]
    let identifier: [UInt8]
}

/// All that is kept of an account's secrets, by name.
package struct SecretList: Sendable {
    /// What is whole and in its place.
    package let intact: [StoredSecret]
    /// What is not: altered, cut, another account's or another machine's.
    package let damaged: [DamagedSecret]

    /// How many open to these fingers.
    package func count(fitting state: EnrolmentState) -> Int { intact.count { $0.fits(state) } }
}

/// Where a new secret goes.
package enum SecretSlot: Equatable, Sendable {
    /// Under this id, which is a new one.
    case new([UInt8])
    /// Under this id, in the place of the secret that has it.
    case over([UInt8])
    /// There is one of this name.
    case taken
    /// No more fit.
    case full
}

/// Keeps, finds and deletes an account's secrets; a file each in `secrets/`, by a random id.
///
/// Nothing here opens one: a vault does, for the right fingers.
package struct SecretStore: Sendable {
    /// The most secrets that an account can have.
    package static let limit = Limit.secrets
    static let directoryName = "secrets"

    let account: AccountState

    /// Reads all secrets.
    package func list() throws(StoreFault) -> SecretList {
        guard let directory = try directory() else { return SecretList(intact: [], damaged: []) }
        let mark = try mark()
        var intact: [StoredSecret] = []
        var damaged: [DamagedSecret] = []
        for name in try files({ () throws(FileFault) in try directory.list() }) {
            // What has another name is none of ours.
            guard let identifier = Hexadecimal.decode(Array(name.utf8)), identifier.count == 16
            else { continue }
            switch try load(identifier, in: directory, mark) {
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

    /// Reads one secret by its id, nil where there is none; `.damaged` where it cannot be used.
    package func secret(_ identifier: [UInt8]) throws(StoreFault) -> StoredSecret? {
        guard let directory = try directory() else { return nil }
        switch try load(identifier, in: directory, try mark()) {
        case .intact(let secret): return secret
        case .damaged: throw .damaged(path: directory.path + "/" + fileName(identifier))
        case .gone: return nil
        }
    }

    /// Finds the place for a secret of this name; one that is there, damaged or not, keeps its id.
    package func place(for name: [UInt8], replacing: Bool) throws(StoreFault) -> SecretSlot {
        let list = try list()
        if let old = list.intact.first(where: { $0.name == name }) {
            return replacing ? .over(old.identifier) : .taken
        }
        if let old = list.damaged.first(where: { $0.name == name }) {
            return replacing ? .over(old.identifier) : .taken
        }
        guard list.intact.count + list.damaged.count < Self.limit else { return .full }
        return .new(try random(16))
    }

    /// What a secret must be sealed to, and opened with.
    package func context(
        _ identifier: [UInt8], name: [UInt8], _ state: EnrolmentState
    ) throws(StoreFault) -> SealingContext {
        let context = SealingContext(
            account: account.name, uid: account.uid, credential: identifier,
            relyingParty: "local", use: .secret(name: name), enrolment: state)
        guard let context else { throw .unsupportedName }
        return context
    }

    /// Writes a secret that a vault has sealed to a context; the old one of that id is there, whole,
    /// until the new one is.
    package func keep(
        _ sealed: SealedContent, name: [UInt8], by vault: VaultKind, _ context: SealingContext,
        now: Instant
    ) throws(StoreFault) {
        let sealing = SecretSealing(vault: vault, enrolment: context.enrolment, key: sealed.key)
        let record = SecretRecord(
            name: name, created: now, sealings: [sealing], content: sealed.content)
        guard (1...Limit.secret).contains(record.size) else {
            throw .damaged(path: fileName(context.credential))
        }
        try write(record, context.credential)
    }

    /// Keeps a secret whose key was sealed anew for the same fingers, by another vault.
    ///
    /// Throws `.changedMeanwhile`, with nothing changed, unless it is on disk as it was found.
    package func keep(
        _ secret: StoredSecret, resealed key: [UInt8], by vault: VaultKind,
        _ enrolment: EnrolmentState
    ) throws(StoreFault) {
        guard try self.secret(secret.identifier) == secret else { throw .changedMeanwhile }
        let sealing = SecretSealing(vault: vault, enrolment: enrolment, key: key)
        let record = SecretRecord(
            name: secret.name, created: secret.created, sealings: [sealing],
            content: secret.content)
        try write(record, secret.identifier)
    }

    /// Deletes what has this name; where nothing whole has it, what is damaged. False if nothing did.
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

    /// Removes what a crash left half-written. What cannot be removed now is in nobody's way.
    func sweep() {
        try? directory()?.sweep()
    }
}

extension SecretStore {
    private enum Loaded {
        case intact(StoredSecret)
        /// With the name that it claims to have.
        case damaged([UInt8]?)
        case gone
    }

    private func load(
        _ identifier: [UInt8], in directory: Directory, _ mark: RecordMark
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
                record.mark, record.marked, account: account.name, uid: account.uid,
                identifier: identifier)
        } catch {
            guard error == .doesNotOpen else { throw .vault(error) }
            return .damaged(record.name)
        }
        return .intact(StoredSecret(identifier: identifier, record: record))
    }

    private func write(_ record: SecretRecord, _ identifier: [UInt8]) throws(StoreFault) {
        var record = record
        let bytes = record.marked
        let mark = try mark()
        record.mark = try sealed { () throws(VaultError) in
            try mark.make(
                bytes, account: account.name, uid: account.uid, identifier: identifier)
        }
        let directory = try files { () throws(FileFault) in
            try account.directory.makeDirectory(Self.directoryName, mode: 0o700)
        }
        try directory.keep(record, as: fileName(identifier))
    }

    private func mark() throws(StoreFault) -> RecordMark {
        try sealed { () throws(VaultError) in try RecordMark(host: account.host) }
    }

    /// The directory, nil where nothing was ever kept.
    private func directory() throws(StoreFault) -> Directory? {
        do throws(FileFault) {
            return try account.directory.directory(Self.directoryName)
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
    }

    private func fileName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
    }
}
