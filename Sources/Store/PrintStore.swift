import Crypto
import Posix
import Statement
import Vault
import Wire

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
        _ template: inout [UInt8], finger: Finger, reader: [UInt8], now: Instant
    ) throws(StoreFault) -> [UInt8] {
        defer { wipe(&template) }
        let identifier = try random(16)
        try commit(
            try draft(
                adding: &template, as: identifier, finger: finger, reader: reader, now: now))
        return identifier
    }

    /// Puts a new template in the place of a print's old one, as readers ask for after a match.
    package func update(
        _ identifier: [UInt8], template: inout [UInt8]
    ) throws(StoreFault) {
        try commit(try draft(updating: identifier, template: &template))
    }

    /// Removes a print.
    package func remove(_ identifier: [UInt8]) throws(StoreFault) {
        try commit(try draft(removing: [identifier]))
    }

    /// Removes files that do not count. Those that cannot be removed now still do not count.
    func sweep(_ record: AccountRecord) {
        let directory = account.printsDirectory
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
        let record: PrintRecord?
        do throws(StoreFault) {
            record = try account.printsDirectory.record(ListedPrint.fileName(identifier))
        } catch {
            guard error.isAboutContent else { throw error }
            return .damaged(nil)
        }
        guard let record else { return .damaged(nil) }
        let context = context(identifier, finger: record.finger, reader: record.reader)
        do throws(VaultError) {
            return .intact(
                try StoredPrint(
                    identifier, record, try account.seal.open(record.sealed, context)))
        } catch {
            switch error {
            case .doesNotOpen, .malformed: return .damaged(record.finger)
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
