// SPDX-License-Identifier: Apache-2.0
import Posix

/// The parts of an account's state that a stamp can cover.
package struct AccountPart: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The account's record and its prints.
    package static let prints = AccountPart(rawValue: 1)
    /// The credential, and its public files for the PAM module.
    package static let credential = AccountPart(rawValue: 2)
    /// The failed matches.
    ///
    /// A touch writes them itself, so take the stamp after it, or read them in any case.
    package static let lockout = AccountPart(rawValue: 4)
    /// The login password for the keyring.
    package static let keyring = AccountPart(rawValue: 8)
    /// The secrets that a touch releases.
    package static let secrets = AccountPart(rawValue: 16)
    /// The keys for servers, and their cached verdicts.
    package static let servers = AccountPart(rawValue: 32)
}

/// The state of an account's files at one moment, which shows later, without reading the files,
/// whether they have changed.
///
/// Take the stamp **before** reading the records, so that a change between stamp and read is
/// noticed as well. It does not cover state outside the account, such as the host secret.
package struct AccountStamp: Sendable {
    /// The parts that the stamp covers.
    package let parts: AccountPart
    /// Whether every change from now on is noticed; see `FileStamp.isSettled`.
    package let isSettled: Bool
    /// The account's directory and, if it exists, that of its prints.
    let places: [FileStamp.Identity]
    let files: [File]

    /// A file in one of the directories.
    ///
    /// Its stamp is nil if it does not exist. Directories are listed in a fixed order, so that two
    /// lists can be compared.
    struct File: Equatable, Sendable {
        let name: String
        let stamp: FileStamp?
    }
}

extension AccountState {
    /// Takes a stamp of parts of the account's state.
    ///
    /// Throws `.changedMeanwhile` if the account's directory, or that of its prints, has been
    /// replaced since it was opened.
    package func stamp(_ parts: AccountPart) throws(StoreFault) -> AccountStamp {
        // Take the time first, so that a change during this function falls into this clock tick or
        // a later one.
        let now = FileMoment.now()
        let opened = try files { () throws(FileFault) in
            var opened = [try place(of: directory, name: String(uid), in: accounts)]
            if let printsDirectory {
                opened.append(try place(of: printsDirectory, name: Self.printsName, in: directory))
            }
            return opened
        }
        let places = opened.compactMap(\.self)
        guard places.count == opened.count else { throw .changedMeanwhile }
        let found = try files { () throws(FileFault) in try stamps(of: parts) }
        return AccountStamp(
            parts: parts,
            // A missing file has no time. If it is created later, its existence shows the change.
            isSettled: found.allSatisfy { $0.stamp?.isSettled(at: now) ?? true }, places: places,
            files: found)
    }

    /// Whether everything that a stamp covers is certainly unchanged, no matter which process
    /// wrote.
    ///
    /// Returns false also if that cannot be determined. The caller must then read the state again.
    package func isUnchanged(since stamp: AccountStamp) -> Bool {
        guard stamp.isSettled, let now = try? self.stamp(stamp.parts) else { return false }
        return now.places == stamp.places && now.files == stamp.files
    }

    /// Returns the identity of an open directory; nil if its name now belongs to another directory.
    private func place(
        of opened: Directory, name: String, in parent: Directory
    ) throws(FileFault) -> FileStamp.Identity? {
        let identity = try opened.stampOfSelf().identity
        return try parent.stamp(name)?.identity == identity ? identity : nil
    }

    /// Takes the stamps of all files of these parts, including the names of missing ones.
    private func stamps(of parts: AccountPart) throws(FileFault) -> [AccountStamp.File] {
        var found: [AccountStamp.File] = []
        func add(_ names: [String], in directory: Directory) throws(FileFault) {
            for name in names {
                found.append(AccountStamp.File(name: name, stamp: try directory.stamp(name)))
            }
        }
        if parts.contains(.prints) {
            try add(["account"], in: directory)
            if let printsDirectory { try add(printsDirectory.list(), in: printsDirectory) }
        }
        if parts.contains(.credential) {
            try add([CredentialStore.name, CredentialStore.signersName], in: directory)
            try add(
                [Self.publicName(uid), Self.offName(uid), Self.nextName(uid)], in: keys)
        }
        if parts.contains(.lockout) { try add([LockoutStore.name], in: directory) }
        if parts.contains(.keyring) { try add([KeyringStore.name], in: directory) }
        for (part, name) in Self.directories where parts.contains(part) {
            try add([name], in: directory)
            guard try directory.contains(name) else { continue }
            let inner = try directory.directory(name)
            try add(inner.list(), in: inner)
        }
        return found
    }

    private static let directories: [(AccountPart, String)] = [
        (.secrets, SecretStore.directoryName), (.servers, ServerStore.directoryName),
    ]
}
