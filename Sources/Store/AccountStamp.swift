// SPDX-License-Identifier: Apache-2.0
import Policy
import Posix

/// What of an account a stamp is about.
package struct AccountPart: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The account's record and its prints.
    package static let prints = AccountPart(rawValue: 1)
    /// The credential, and what is published of it for the PAM module.
    package static let credential = AccountPart(rawValue: 2)
    /// The failed matches. A touch writes them itself: stamp them after that, or read them.
    package static let lockout = AccountPart(rawValue: 4)
    /// The login password for the keyring.
    package static let keyring = AccountPart(rawValue: 8)
    /// The secrets that a touch releases.
    package static let secrets = AccountPart(rawValue: 16)
    /// The keys for servers, and what they said.
    package static let servers = AccountPart(rawValue: 32)
}

/// How an account's records were when they were stamped, so that whether they still are can be told
/// without reading them.
///
/// Take it **before** the records are read: then one that is changed between stamp and read shows
/// later, too. It says nothing of what is not the account's, such as the host secret.
package struct AccountStamp: Sendable {
    /// What it is about.
    package let parts: AccountPart
    /// Whether each change from here on shows; see `FileStamp.isSettled`.
    package let isSettled: Bool
    /// The account's directory and, where there is one, that of its prints.
    let places: [FileStamp.Identity]
    let files: [File]

    /// A record, by its name in one of the directories, which are looked through in one order; its
    /// stamp is nil where it is not there.
    struct File: Equatable, Sendable {
        let name: String
        let stamp: FileStamp?
    }
}

extension AccountState {
    /// Stamps some of the account's records.
    ///
    /// Throws `.changedMeanwhile` where the account's directory, as it was opened, is not the one that
    /// has its name any more.
    package func stamp(_ parts: AccountPart) throws(StoreFault) -> AccountStamp {
        // Before any file is looked at: what changes while this runs is in this tick or later.
        let now = FileMoment.now()
        let opened = try files { () throws(FileFault) in
            var opened = [try place(of: directory, String(uid), in: accounts)]
            if let printsDirectory {
                opened.append(try place(of: printsDirectory, Self.printsName, in: directory))
            }
            return opened
        }
        let places = opened.compactMap(\.self)
        guard places.count == opened.count else { throw .changedMeanwhile }
        let found = try files { () throws(FileFault) in try stamps(of: parts) }
        return AccountStamp(
            parts: parts,
            // A record that is not there has no time; one that is made later shows by being there.
            isSettled: found.allSatisfy { $0.stamp?.isSettled(at: now) ?? true }, places: places,
            files: found)
    }

    /// Whether all that a stamp is about is surely as it was, whoever may have written; false where
    /// that cannot be told, and has to be read anew.
    package func isUnchanged(since stamp: AccountStamp) -> Bool {
        guard stamp.isSettled, let now = try? self.stamp(stamp.parts) else { return false }
        return now.places == stamp.places && now.files == stamp.files
    }

    /// Which directory was opened; nil where another one has its name now.
    private func place(
        of opened: Directory, _ name: String, in parent: Directory
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
