// SPDX-License-Identifier: Apache-2.0
import Crypto
import LoginProtocol
import Posix
import SignedFormats
import Vault

/// The prints of an account as they are on disk now, or will be after a change.
package struct Enrolment: Sendable {
    /// All that opened, by id.
    package let prints: [StoredPrint]
    /// What counts and did not open, or is not there; it takes part in nothing.
    package let damaged: [DamagedPrint]
    /// What a credential is sealed to.
    package let state: EnrolmentState

    /// Whether no finger can be matched.
    package var isEmpty: Bool { prints.isEmpty }
    /// Whether none counts either.
    var isNothing: Bool { prints.isEmpty && damaged.isEmpty }
}

/// Reads an account's prints, and changes them: each change at once, or not at all.
///
/// The record `account` says which files count. A change writes the new file, then the record, which
/// is the change, then removes what does not count any more.
package struct PrintStore: Sendable {
    /// The most prints that an account can have: each finger once.
    package static let limit = Finger.allCases.count

    let account: AccountState

    /// Reads all prints. One that is gone or fails its seal is told as damaged and left out; a file
    /// that is not listed is nothing.
    ///
    /// Throws `.closed` where the key of one is not open now: nothing is said about any then.
    package func enrolment() throws(StoreFault) -> Enrolment {
        try enrolment(account.record())
    }

    func enrolment(_ record: AccountRecord) throws(StoreFault) -> Enrolment {
        var prints: [StoredPrint] = []
        var damaged: [DamagedPrint] = []
        for listed in record.prints {
            switch try load(listed.identifier) {
            case .intact(let print) where listed.finger == nil || listed.finger == print.finger:
                prints.append(print)
            case .intact, .damaged:
                damaged.append(
                    DamagedPrint(identifier: listed.identifier, finger: listed.finger))
            }
        }
        return try Enrolment(generation: record.generation, prints: prints, damaged: damaged)
    }

    /// Adds a print under a new id, which it returns, in the place of any older one of the same
    /// finger; the template is wiped.
    @discardableResult
    package func add(
        _ template: inout [UInt8], finger: Finger, reader: [UInt8],
        sealedWith key: TemplateKeyID = .host, now: Instant
    ) throws(StoreFault) -> [UInt8] {
        defer { wipe(&template) }
        let identifier = try random(16)
        try commit(
            try draft(
                adding: &template, as: identifier, finger: finger, reader: reader,
                sealedWith: key, now: now))
        return identifier
    }

    /// Removes a print.
    package func remove(_ identifier: [UInt8]) throws(StoreFault) {
        try commit(try draft(removing: [identifier]))
    }

    /// Seals the templates of all intact prints with another key, which is open: the same prints, the
    /// same state. After a throw, or a crash at any point, each has the old key or the new one.
    package func seal(with key: TemplateKeyID) throws(StoreFault) {
        for listed in try account.record().prints {
            guard let file = try file(listed.identifier), file.key != key,
                case .intact(let print) = try open(file, listed.identifier)
            else { continue }
            var template = print.template
            let secret: SecretBytes
            do throws(SystemFault) {
                secret = try SecretBytes(moving: &template)
            } catch { throw .file(.system(error)) }
            let context = context(listed.identifier, finger: file.finger, reader: file.reader)
            let anew = try sealed { () throws(VaultError) in
                PrintRecord(
                    finger: file.finger, reader: file.reader, added: file.added, key: key,
                    sealed: try account.templates.seal(key).seal(secret, context))
            }
            try account.makePrintsDirectory().keep(anew, as: listed.fileName)
        }
    }

    /// The ids of the keys that the account's templates are sealed with, the host's aside. What
    /// cannot be read names none.
    package func keys() throws(StoreFault) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for listed in try account.record().prints {
            guard case .kept(let key) = try file(listed.identifier)?.key, !found.contains(key)
            else { continue }
            found.append(key)
        }
        return found
    }

    /// How many prints count, whether they open or not.
    package func count() throws(StoreFault) -> Int { try account.record().prints.count }

    /// Whether there are files that do not count: the disk failed when they were to be removed.
    package var hasLeftovers: Bool {
        guard let names = try? account.printsDirectory?.list(), let record = try? account.record()
        else { return false }
        return !Set(names).isSubset(of: record.prints.map(\.fileName))
    }

    /// Removes files that do not count. Those that cannot be removed now still do not count.
    func sweep(_ record: AccountRecord) {
        guard let directory = account.printsDirectory else { return }
        try? directory.sweep()
        let counting = record.prints.map(\.fileName)
        for name in (try? directory.list()) ?? [] where !counting.contains(name) {
            try? directory.remove(name)
        }
    }

    /// What a print's file is found to be.
    enum Loaded {
        case intact(StoredPrint)
        /// With the finger that it names, where that much can be read; it is not authenticated.
        case damaged(Finger?)
    }

    /// Reads and opens a print's file.
    func load(_ identifier: [UInt8]) throws(StoreFault) -> Loaded {
        guard let file = try file(identifier) else { return .damaged(nil) }
        return try open(file, identifier)
    }

    /// A print's file as it is; nil where it is gone, or not in its one form.
    func file(_ identifier: [UInt8]) throws(StoreFault) -> PrintRecord? {
        do throws(StoreFault) {
            return try account.printsDirectory?.record(ListedPrint.fileName(identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    func open(_ file: PrintRecord, _ identifier: [UInt8]) throws(StoreFault) -> Loaded {
        let context = context(identifier, finger: file.finger, reader: file.reader)
        let seal: TemplateSeal
        do throws(VaultError) {
            seal = try account.templates.seal(file.key)
        } catch {
            switch error {
            case .doesNotOpen, .malformed: return .damaged(file.finger)
            case .crypto, .trouble: throw .closed(error)
            }
        }
        do throws(VaultError) {
            return .intact(
                try StoredPrint(identifier, file, try seal.open(file.sealed, context)))
        } catch {
            switch error {
            case .doesNotOpen, .malformed: return .damaged(file.finger)
            case .crypto, .trouble: throw .vault(error)
            }
        }
    }

    /// What a template is sealed to.
    func context(
        _ identifier: [UInt8], finger: Finger, reader: [UInt8]
    ) -> TemplateContext {
        TemplateContext(
            account: account.name, uid: account.uid, identifier: identifier,
            finger: finger.name.description, reader: String(decoding: reader, as: UTF8.self))
    }
}

extension Enrolment {
    /// Computes the state of some prints.
    init(
        generation: UInt64, prints: [StoredPrint], damaged: [DamagedPrint]
    ) throws(StoreFault) {
        self.prints = prints.sorted {
            $0.identifier.lexicographicallyPrecedes($1.identifier)
        }
        self.damaged = damaged
        do throws(CryptoFault) {
            state = try EnrolmentState(generation: generation, prints: prints.map(\.enrolled))
        } catch { throw .vault(.crypto(error)) }
    }
}
