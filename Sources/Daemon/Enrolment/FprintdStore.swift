// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import ReaderProtocol

/// fprintd's prints as they lie on disk: `ACCOUNT/DRIVER/DEVICE/FINGER`, the finger a hexadecimal
/// digit (fprintd's file_storage.c).
///
/// Only what nobody but root can have put there is opened, and nothing is ever written.
struct FprintdStore: Sendable {
    /// The most files that are looked at for one account.
    static let fileLimit = 200

    private let path: String

    /// The store in a directory, which need not be there.
    init(_ path: String) { self.path = path }

    /// Something that lies in an account's directory.
    enum Entry {
        /// Named as fprintd names a print; not read yet.
        case file(FprintdFile)
        /// Nothing that could be one, and why.
        case refused(ImportedPrintAnswer)
    }

    /// All that lies there for an account; nothing where fprintd never kept anything for it.
    ///
    /// Throws where the store or the account's directory cannot be trusted or read, and for an
    /// account whose name is no plain file name.
    func entries(of account: String) throws(FileFault) -> [Entry] {
        let own: Directory
        do throws(FileFault) {
            own = try Directory.open(path).directory(account, isPrivate: false)
        } catch {
            if error.isMissing { return [] }
            throw error
        }
        var walk = Walk()
        walk.descend(into: own, [])
        return walk.entries
    }

    /// One way through an account's directories: drivers, devices, files.
    private struct Walk {
        private(set) var entries: [Entry] = []
        private var isFull = false

        mutating func descend(into directory: Directory, _ parts: [String]) {
            let names: [String]
            do throws(FileFault) {
                names = try directory.listAll()
            } catch { return refuse(parts, error) }
            for name in names {
                let place = parts + [name]
                guard entries.count < FprintdStore.fileLimit else { return end(place) }
                if parts.count < 2 {
                    descend(from: directory, place)
                } else {
                    take(place, directory)
                }
                if isFull { return }
            }
        }

        private mutating func descend(from directory: Directory, _ place: [String]) {
            do throws(FileFault) {
                let name = place.last ?? ""
                descend(into: try directory.directory(name, isPrivate: false), place)
            } catch { refuse(place, error) }
        }

        private mutating func take(_ place: [String], _ directory: Directory) {
            guard let finger = Finger(fprintd: place[2]) else { return refuse(place, .foreign) }
            entries.append(
                .file(
                    FprintdFile(
                        driver: place[0], deviceID: place[1], finger: finger, name: place[2],
                        directory: directory)))
        }

        private mutating func end(_ place: [String]) {
            isFull = true
            refuse(place, .tooMany)
        }

        private mutating func refuse(_ place: [String], _ fault: FileFault) {
            let (outcome, subject) = fault.outcome
            refuse(place, outcome, subject)
        }

        private mutating func refuse(
            _ place: [String], _ outcome: ImportOutcome, _ subject: Bytes? = nil
        ) {
            entries.append(
                .refused(
                    ImportedPrintAnswer(
                        finger: nil, subject: subject, outcome: outcome,
                        place: FprintdFile.place(place))))
        }
    }
}

/// A file that has the name of a print of fprintd's; it may be anything.
struct FprintdFile {
    let driver: String
    let deviceID: String
    let finger: Finger
    fileprivate let name: String
    fileprivate let directory: Directory

    /// Where it lies in the account's directory.
    var place: Bytes { Self.place([driver, deviceID, name]) }

    fileprivate static func place(_ parts: [String]) -> Bytes {
        Bytes(parts.joined(separator: "/").utf8.prefix(Limit.text))
    }

    /// The print in it, of what its place says and made for this account; what else it is otherwise.
    ///
    /// The form is checked whole before the reader's library sees a byte: it ends the process over
    /// damaged data. Fingers and names are held against each other as fprintd does it.
    func print(for account: String) -> Found {
        let bytes: [UInt8]?
        do throws(FileFault) {
            bytes = try directory.read(name, cap: Template.limit, isPrivate: false)
        } catch {
            let (outcome, subject) = error.outcome
            return .refused(outcome, subject: subject)
        }
        guard let bytes, let template = try? Template(bytes: bytes) else {
            return .refused(.malformed)
        }
        guard template.driver == driver, template.deviceID == deviceID else {
            return .refused(.otherReader)
        }
        guard template.finger == finger else { return .refused(.otherFinger) }
        guard template.account == account else { return .refused(.otherAccount) }
        return .print(template)
    }

    /// What a file is found to be.
    enum Found {
        case print(Template)
        case refused(ImportOutcome, subject: Bytes? = nil)
    }

    /// What is told of it; without an outcome, that it is there.
    func answer(_ outcome: ImportOutcome?, subject: Bytes? = nil) -> ImportedPrintAnswer {
        let written = (try? directory.modified(name)) ?? nil
        return ImportedPrintAnswer(
            finger: finger, since: written.map { UInt64(clamping: $0) }, subject: subject,
            outcome: outcome, place: place)
    }
}

extension Finger {
    /// The finger that a file of fprintd's is named after: one hexadecimal digit in lower case.
    fileprivate init?(fprintd name: String) {
        let found = Finger.allCases.first { String($0.rawValue, radix: 16) == name }
        guard let found else { return nil }
        self = found
    }
}

extension FileFault {
    /// What is told of a file that was not used, with what is known beside.
    fileprivate var outcome: (ImportOutcome, subject: Bytes?) {
        switch self {
        case .untrusted(_, .wrongKind), .untrusted(_, .notAbsolute): (.notPlain, nil)
        case .untrusted(_, .owner): (.otherOwner, nil)
        case .untrusted(_, .mode): (.writable, nil)
        case .untrusted(_, .linked): (.linked, nil)
        case .tooLarge: (.tooLarge, nil)
        case .badName: (.foreign, nil)
        case .system(let fault):
            (.unreadable, Bytes(fault.description.utf8.prefix(Limit.text)))
        }
    }
}
