import Crypto
import Posix
import Statement
import Vault
import Wire

/// The prints of an account as they are on disk now.
package struct Enrolment: Sendable {
    /// All that opened, by id.
    package let prints: [StoredPrint]
    /// What is there and did not open; it takes part in nothing.
    package let damaged: [DamagedPrint]
    /// What a credential is sealed to.
    package let state: EnrolmentState

    /// Whether no finger can be matched.
    package var isEmpty: Bool { prints.isEmpty }
}

/// Adds, changes, removes and lists an account's prints.
package struct PrintStore: Sendable {
    /// The most prints that an account can have: each finger once.
    package static let limit = Finger.allCases.count

    let account: AccountState

    /// Reads all prints. One that fails its seal is told as damaged and left out.
    package func enrolment() throws(StoreFault) -> Enrolment {
        let names = try files { () throws(FileFault) in try account.printsDirectory.list() }
        var prints: [StoredPrint] = []
        var damaged: [DamagedPrint] = []
        for name in names {
            switch try load(name) {
            case .intact(let print): prints.append(print)
            case .damaged(let finger): damaged.append(DamagedPrint(name: name, finger: finger))
            }
        }
        let generation = try account.generation()
        let enrolled = prints.map(\.enrolled)
        let state = try sealed { () throws(VaultError) in
            do throws(CryptoFault) {
                return try EnrolmentState(generation: generation, prints: enrolled)
            } catch { throw .crypto(error) }
        }
        return Enrolment(prints: prints, damaged: damaged, state: state)
    }

    /// Adds a print under a new id, which it returns; the template is wiped.
    package func add(
        _ template: inout [UInt8], finger: Finger, reader: [UInt8], now: Instant
    ) throws(StoreFault) -> [UInt8] {
        let names = try files { () throws(FileFault) in try account.printsDirectory.list() }
        guard names.count < Self.limit else { throw .tooManyPrints }
        let identifier = try random(16)
        try write(&template, identifier, finger: finger, reader: reader, added: now)
        return identifier
    }

    /// Puts a new template in the place of a print's old one, as readers ask for after a match.
    package func update(
        _ identifier: [UInt8], template: inout [UInt8]
    ) throws(StoreFault) {
        let name = fileName(identifier)
        guard let old = try account.printsDirectory.record(name, as: PrintRecord.self) else {
            throw .unknownPrint
        }
        try write(
            &template, identifier, finger: old.finger, reader: old.reader, added: old.added)
    }

    /// Removes a print.
    package func remove(_ identifier: [UInt8]) throws(StoreFault) {
        try remove(named: fileName(identifier))
    }

    /// Removes a print that could not be opened.
    package func remove(_ damaged: DamagedPrint) throws(StoreFault) {
        try remove(named: damaged.name)
    }

    /// Removes all prints, damaged ones too.
    package func removeAll() throws(StoreFault) {
        let names = try files { () throws(FileFault) in try account.printsDirectory.list() }
        guard !names.isEmpty else { return }
        try account.beginChange()
        try files { () throws(FileFault) in
            for name in names { try account.printsDirectory.remove(name) }
        }
    }

    private func remove(named name: String) throws(StoreFault) {
        let names = try files { () throws(FileFault) in try account.printsDirectory.list() }
        guard names.contains(name) else { throw .unknownPrint }
        try account.beginChange()
        try files { () throws(FileFault) in try account.printsDirectory.remove(name) }
    }

    private func write(
        _ template: inout [UInt8], _ identifier: [UInt8], finger: Finger, reader: [UInt8],
        added: Instant
    ) throws(StoreFault) {
        guard reader.count <= 256 else { throw .damaged(path: fileName(identifier)) }
        let secret: SecretBytes
        do throws(SystemFault) {
            secret = try SecretBytes(moving: &template)
        } catch { throw .file(.system(error)) }
        let context = context(identifier, finger: finger, reader: reader)
        let bytes = try sealed { () throws(VaultError) in try account.seal.seal(secret, context) }
        let record = PrintRecord(finger: finger, reader: reader, added: added, sealed: bytes)
        try account.beginChange()
        try account.printsDirectory.keep(record, as: fileName(identifier))
    }

    private enum Loaded {
        case intact(StoredPrint)
        case damaged(Finger?)
    }

    private func load(_ name: String) throws(StoreFault) -> Loaded {
        guard let identifier = Hexadecimal.decode(Array(name.utf8)), identifier.count == 16 else {
            return .damaged(nil)
        }
        let record: PrintRecord?
        do throws(StoreFault) {
            record = try account.printsDirectory.record(name)
        } catch {
            guard error.isAboutContent else { throw error }
            return .damaged(nil)
        }
        guard let record else { return .damaged(nil) }
        let context = context(identifier, finger: record.finger, reader: record.reader)
        do throws(VaultError) {
            let template = try account.seal.open(record.sealed, context)
            return .intact(try open(template, identifier, record))
        } catch {
            switch error {
            case .doesNotOpen, .malformed: return .damaged(record.finger)
            case .crypto, .trouble: throw .vault(error)
            }
        }
    }

    private func open(
        _ template: SecretBytes, _ identifier: [UInt8], _ record: PrintRecord
    ) throws(VaultError) -> StoredPrint {
        let bytes = template.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
        let digest: [UInt8]
        do throws(CryptoFault) {
            digest = try SHA256.digest(bytes)
        } catch { throw .crypto(error) }
        let enrolled = EnrolledPrint(
            identifier: identifier, finger: record.finger.name.description,
            reader: String(decoding: record.reader, as: UTF8.self), templateDigest: digest)
        return StoredPrint(
            identifier: identifier, finger: record.finger, reader: record.reader,
            added: record.added, template: bytes, enrolled: enrolled)
    }

    private func context(
        _ identifier: [UInt8], finger: Finger, reader: [UInt8]
    ) -> TemplateContext {
        TemplateContext(
            account: account.name, uid: account.uid, identifier: identifier,
            finger: finger.name.description, reader: String(decoding: reader, as: UTF8.self))
    }

    private func fileName(_ identifier: [UInt8]) -> String {
        String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
    }
}
