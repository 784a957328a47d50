// SPDX-License-Identifier: Apache-2.0
import Posix

/// The parts of an account's state that a stamp covers.
package struct AccountPart: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The account's record and its prints.
    package static let prints = AccountPart(rawValue: 1)
    /// The credential, and its public files for the PAM module.
    package static let credential = AccountPart(rawValue: 2)
    /// The failed matches. A touch writes them itself, so take the stamp after it, or read them
    /// anyway.
    package static let lockout = AccountPart(rawValue: 4)
    /// The login password for the keyring.
    package static let keyring = AccountPart(rawValue: 8)
    /// The secrets that a touch releases.
    package static let secrets = AccountPart(rawValue: 16)
    /// The keys for servers, and their cached verdicts.
    package static let servers = AccountPart(rawValue: 32)
}

/// The state of an account's files at one moment, to tell later without reading them whether they
/// changed.
///
/// Take it **before** reading the records: a change between stamp and read is then noticed as well.
/// It does not cover state outside the account, such as the host secret.
package struct AccountStamp: Sendable {
    /// The parts that the stamp covers.
    package let parts: AccountPart
    /// Whether every change from now on is noticed; see `FileStamp.isSettled`.
    package let isSettled: Bool
    /// The account's directory and that of its prints, if there is one.
    let places: [FileStamp.Identity]
    let files: [File]

    /// A file of one of the directories, which are listed in a fixed order; its stamp is nil if it
    /// does not exist.
    struct File: Equatable, Sendable {
        let name: String
        let stamp: FileStamp?
    }
}

extension AccountState {
    /// Takes a stamp of parts of the account's state.
    ///
    /// Throws `.changedMeanwhile` if the account's directory has been replaced since it was opened.
    package func stamp(_ parts: AccountPart) throws(StoreFault) -> AccountStamp {
        // Take the time first, so that changes during this function are in this clock tick or
        // later.
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
            // A missing file has no time; if it is created later, its existence is the change.
            isSettled: found.allSatisfy { $0.stamp?.isSettled(at: now) ?? true }, places: places,
            files: found)
    }

    /// Whether everything that a stamp covers is certainly unchanged, whoever may have written.
    /// False also if that cannot be determined, in which case the caller must read the state again.
    package func isUnchanged(since stamp: AccountStamp) -> Bool {
        guard stamp.isSettled, let now = try? self.stamp(stamp.parts) else { return false }
        return now.places == stamp.places && now.files == stamp.files
    }

    /// Returns the identity of an opened directory; nil if another one has its name now.
    private func place(
        of opened: Directory, name: String, in parent: Directory
    ) throws(FileFault) -> FileStamp.Identity? {
        let identity = try opened.stampOfSelf().identity
        return try parent.stamp(name)?.identity == identity ? identity : nil
    }

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
