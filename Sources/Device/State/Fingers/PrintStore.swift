// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import LoginProtocol
import Posix
import Sealing
import SignedFormats

/// The prints of an account, as they are on disk or as they will be after a change.
package struct Enrolment: Sendable {
    /// The prints that opened, ordered by id.
    package let prints: [StoredPrint]
    /// The listed prints that are missing or did not open; they cannot match.
    package let damaged: [DamagedPrint]
    /// The state that a credential for these prints is sealed to.
    package let state: EnrolmentState

    /// Whether no print opened, so that no finger can match.
    package var isEmpty: Bool { prints.isEmpty }
    /// Whether no print is listed at all, not even a damaged one.
    var isNothing: Bool { prints.isEmpty && damaged.isEmpty }
}

/// Reads and changes an account's prints.
///
/// Each change takes effect completely or not at all. The record `account` lists the prints; other
/// files are ignored. A change writes the new print's file, then the record, which makes it
/// effective, and finally removes the files that are no longer listed.
package struct PrintStore: Sendable {
    /// The maximum number of prints of an account: one for each finger.
    package static let limit = Finger.allCases.count

    let account: AccountState

    /// Reads all prints.
    ///
    /// A print that is missing or fails authentication is reported as damaged and does not enter
    /// the state. Files that are not listed are ignored. Throws `.closed` if the template key of
    /// any print is not open now, in which case nothing is known about the prints.
    package func enrolment() throws(StoreFault) -> Enrolment {
        try enrolment(account.record())
    }

    /// Reads all prints; nil if the template key of any is not open now.
    package func enrolmentIfOpen() throws(StoreFault) -> Enrolment? {
        do throws(StoreFault) {
            return try enrolment()
        } catch {
            guard case .closed = error else { throw error }
            return nil
        }
    }

    func enrolment(_ record: AccountFile) throws(StoreFault) -> Enrolment {
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

    /// Adds a print, which replaces any older one of the same finger.
    ///
    /// Wipes the template, and returns the new print's id. Throws as `draft` and `commit` do.
    @discardableResult
    package func add(
        _ template: inout [UInt8], finger: Finger, reader: [UInt8],
        sealedWith key: TemplateKeyID = .host, now: Instant
    ) throws(StoreFault) -> PrintID {
        defer { wipe(&template) }
        let identifier: PrintID = try random()
        try commit(
            try draft(
                adding: &template, as: identifier, finger: finger, reader: reader,
                sealedWith: key, now: now))
        return identifier
    }

    /// Removes a print.
    ///
    /// Throws `.unknownPrint` if it is not listed.
    package func remove(_ identifier: PrintID) throws(StoreFault) {
        try commit(try draft(removing: [identifier]))
    }

    /// Seals the templates of all intact prints with another key, which must be open.
    ///
    /// The enrolment state is unchanged. After an error, or a crash at any point, each template is
    /// sealed with either the old key or the new one.
    package func seal(with key: TemplateKeyID) throws(StoreFault) {
        for listed in try account.record().prints {
            guard let file = try file(listed.identifier), file.key != key,
                case .intact(let print) = try open(file, identifier: listed.identifier)
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
                    sealed: try account.templates.seal(key).seal(secret, context: context))
            }
            try account.makePrintsDirectory().keep(anew, as: listed.fileName)
        }
    }

    /// Returns the ids of the template keys that the account's prints use, apart from the host's.
    ///
    /// Unreadable files contribute none.
    package func keys() throws(StoreFault) -> [StoredTemplateKeyID] {
        var found: [StoredTemplateKeyID] = []
        for listed in try account.record().prints {
            guard case .kept(let key) = try file(listed.identifier)?.key, !found.contains(key)
            else { continue }
            found.append(key)
        }
        return found
    }

    /// The fingers of the listed prints, by their list, which needs no key; nil for one that a damaged
    /// print was of.
    package func fingers() throws(StoreFault) -> [Finger?] {
        try account.record().prints.map(\.finger)
    }

    /// Returns the number of listed prints, whether they open or not.
    package func count() throws(StoreFault) -> Int { try account.record().prints.count }

    /// Whether `prints/` contains files that are not listed, because the disk failed when they
    /// should have been removed.
    package var hasLeftovers: Bool {
        guard let names = try? account.printsDirectory?.list(), let record = try? account.record()
        else { return false }
        return !Set(names).isSubset(of: record.prints.map(\.fileName))
    }

    /// Removes files that are not listed.
    ///
    /// One that cannot be removed is ignored when prints are read.
    func removeUnlisted(by record: AccountFile) {
        guard let directory = account.printsDirectory else { return }
        let counting = record.prints.map(\.fileName)
        for name in (try? directory.list()) ?? [] where !counting.contains(name) {
            try? directory.remove(name)
        }
    }

    /// The result of reading a print's file.
    enum Loaded {
        case intact(StoredPrint)
        /// The file cannot be used.
        ///
        /// The finger is the one that the file names, which is not authenticated; nil if it cannot
        /// be read.
        case damaged(Finger?)
    }

    /// Reads and opens a print's file.
    ///
    /// Throws as `enrolment()` does.
    func load(_ identifier: PrintID) throws(StoreFault) -> Loaded {
        guard let file = try file(identifier) else { return .damaged(nil) }
        return try open(file, identifier: identifier)
    }

    /// Reads a print's file without opening it; nil if it is missing or malformed.
    func file(_ identifier: PrintID) throws(StoreFault) -> PrintRecord? {
        do throws(StoreFault) {
            return try account.printsDirectory?.record(ListedPrint.fileName(identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return nil
        }
    }

    /// Opens a print's template.
    ///
    /// A template that does not open is damaged. A template key that is not open now throws
    /// `.closed`, since the print may be intact.
    func open(_ file: PrintRecord, identifier: PrintID) throws(StoreFault) -> Loaded {
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
                try StoredPrint(
                    identifier, record: file, secret: try seal.open(file.sealed, context: context)))
        } catch {
            switch error {
            case .doesNotOpen, .malformed: return .damaged(file.finger)
            case .crypto, .trouble: throw .vault(error)
            }
        }
    }

    /// Returns the context that a print's template is sealed to.
    func context(
        _ identifier: PrintID, finger: Finger, reader: [UInt8]
    ) -> TemplateContext {
        TemplateContext(
            account: account.sealedName, uid: account.uid, identifier: identifier,
            finger: finger.name.description, reader: String(decoding: reader, as: UTF8.self))
    }
}

extension Enrolment {
    /// Creates an enrolment and computes its state.
    init(
        generation: UInt64, prints: [StoredPrint], damaged: [DamagedPrint]
    ) throws(StoreFault) {
        self.prints = prints.sorted { $0.identifier < $1.identifier }
        self.damaged = damaged
        do throws(CryptoFault) {
            state = try EnrolmentState(generation: generation, prints: prints.map(\.enrolled))
        } catch { throw .vault(.crypto(error)) }
    }
}
