// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import ReaderProtocol

/// Reads fprintd's store of prints: `ACCOUNT/DRIVER/DEVICE/FINGER` below its directory.
///
/// The finger is one hexadecimal digit, as in fprintd's file_storage.c. Only files and directories
/// that no user except root can have written are opened, because the prints will open an account.
/// The store is never written to.
struct FprintdStore: Sendable {
    /// How many entries of one account are looked at.
    static let fileLimit = 200

    private let path: String

    /// Uses the store in a directory, which need not exist.
    init(_ path: String) { self.path = path }

    /// An entry in an account's directory.
    enum Entry {
        /// A file that is named like a print; its content has not been read.
        case file(FprintdFile)
        /// An entry that cannot be a print, with the reason.
        case refused(ImportedPrintAnswer)
    }

    /// Lists everything that the store has for an account; empty if it has nothing.
    ///
    /// Directories that cannot be read or trusted are listed with the reason. Throws if the
    /// account's own directory or the store cannot be read or trusted, or if the account's name is
    /// not a plain file name.
    func entries(of account: String) throws(FileFault) -> [Entry] {
        let own: Directory
        do throws(FileFault) {
            own = try Directory.open(path).directory(account, isPrivate: false)
        } catch {
            if error.isMissing { return [] }
            throw error
        }
        var walk = Walk()
        walk.descend(into: own, parts: [])
        return walk.entries
    }

    /// One traversal of an account's directories: drivers, devices, files.
    private struct Walk {
        private(set) var entries: [Entry] = []
        private var isFull = false

        mutating func descend(into directory: Directory, parts: [String]) {
            let names: [String]
            do throws(FileFault) {
                names = try directory.listAll()
            } catch { return refuse(parts, fault: error) }
            for name in names {
                let place = parts + [name]
                guard entries.count < FprintdStore.fileLimit else { return end(place) }
                if parts.count < 2 {
                    descend(from: directory, place: place)
                } else {
                    take(place, directory: directory)
                }
                if isFull { return }
            }
        }

        private mutating func descend(from directory: Directory, place: [String]) {
            do throws(FileFault) {
                let name = place.last ?? ""
                descend(into: try directory.directory(name, isPrivate: false), parts: place)
            } catch { refuse(place, fault: error) }
        }

        private mutating func take(_ place: [String], directory: Directory) {
            guard let finger = Finger(fprintd: place[2]) else {
                return refuse(place, outcome: .foreign)
            }
            entries.append(
                .file(
                    FprintdFile(
                        driver: place[0], deviceID: place[1], finger: finger, name: place[2],
                        directory: directory)))
        }

        private mutating func end(_ place: [String]) {
            isFull = true
            refuse(place, outcome: .tooMany)
        }

        private mutating func refuse(_ place: [String], fault: FileFault) {
            let (outcome, subject) = fault.outcome
            refuse(place, outcome: outcome, subject: subject)
        }

        private mutating func refuse(
            _ place: [String], outcome: ImportOutcome, subject: Bytes? = nil
        ) {
            entries.append(
                .refused(
                    ImportedPrintAnswer(
                        finger: nil, subject: subject, outcome: outcome,
                        place: FprintdFile.place(place))))
        }
    }
}

/// A file that is named like one of fprintd's prints; its content may be anything.
struct FprintdFile {
    let driver: String
    let deviceID: String
    let finger: Finger
    fileprivate let name: String
    fileprivate let directory: Directory

    /// Its path relative to the account's directory, cut to `Limit.text` bytes.
    var place: Bytes { Self.place([driver, deviceID, name]) }

    fileprivate static func place(_ parts: [String]) -> Bytes {
        Bytes(parts.joined(separator: "/").utf8.prefix(Limit.text))
    }

    /// Reads the print, if it is what its path says and was made for this account; otherwise
    /// returns the reason.
    ///
    /// The format is checked completely before libfprint receives a byte, because libfprint aborts
    /// the process on damaged data. The driver, the device, the finger and the account in the file
    /// must be those of the path, as fprintd requires too. At most `Template.limit` bytes are read.
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

    /// The result of reading a file.
    enum Found {
        case print(Template)
        case refused(ImportOutcome, subject: Bytes? = nil)
    }

    /// Returns the answer about this file, with the time at which it was written.
    ///
    /// - Parameter outcome: what became of it; nil to say only that it exists.
    func answer(_ outcome: ImportOutcome?, subject: Bytes? = nil) -> ImportedPrintAnswer {
        let written = (try? directory.modified(name)) ?? nil
        return ImportedPrintAnswer(
            finger: finger, since: written.map { UInt64(clamping: $0) }, subject: subject,
            outcome: outcome, place: place)
    }
}

extension Finger {
    /// Creates the finger that a file of fprintd is named after: one lowercase hexadecimal digit.
    fileprivate init?(fprintd name: String) {
        let found = Finger.allCases.first { String($0.rawValue, radix: 16) == name }
        guard let found else { return nil }
        self = found
    }
}

extension FileFault {
    /// The outcome to report for a file that was not used, with further details if there are any.
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
