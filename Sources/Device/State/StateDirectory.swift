// SPDX-License-Identifier: Apache-2.0
import Domain
import Posix
import Sealing
import SignedFormats

/// Signet's state on disk, which a single daemon process owns.
///
/// - `version`, `device-id`
/// - `keys/<uid>.pub` (readable by all), `keys/<uid>.off`, `keys/<uid>.next`
/// - `private/host-secret`, `tpm-root`, `template-keys/`, `reader-work`, `offers`, `settings`
/// - `private/stored/`: owners of the prints stored on readers
/// - `private/comparisons/<uid>`: count of the fingers compared while an account enrolled
/// - `private/accounts/<uid>/`: account, life, prints/, secrets/, servers/, mac-tokens/, credential,
///   keyring, signers, lockout, counter, receipts, refusals
///
/// `signet doctor` knows these names too: see `StateFiles`.
package struct StateDirectory: Sendable {
    /// The path on an installed system.
    package static let standardPath = "/var/lib/signet"
    /// The version of the file formats.
    package static let version: UInt64 = 4

    /// Where evidence of an account's life comes from.
    let witness: LifeWitness

    /// The id of this machine, 16 random bytes.
    package let device: DeviceID
    /// The host secret.
    package let host: HostSecret

    /// The file that stores the Name of the TPM's storage root key.
    package let rootPin: RootPinFile

    /// The likely owners of the prints stored on readers.
    package let owners: PrintOwners

    /// The keys that templates are sealed with.
    package let templateKeys: TemplateKeys

    /// The counts of fingers compared during enrolments.
    package let comparisons: EnrolmentComparisonStore

    let keys: Directory
    let secrets: Directory
    let accountsRoot: Directory

    /// Opens the state directory.
    ///
    /// Creates what is missing at the first start, migrates the files of an older version, and
    /// removes half-written files outside of accounts; `recover` does so for the accounts. The path
    /// and its parents must be owned by root, not be writable by others, and contain no symbolic
    /// links.
    ///
    /// - Parameters:
    ///   - credentials: The directory of systemd's credentials, or nil.
    ///   - faults: Simulated disk faults, for tests.
    ///   - witness: What shows whether an account is the one that enrolled; another one in tests.
    /// - Throws: `.newerVersion` if a later version wrote the directory; `.damaged`, `.hostSecret`,
    ///   `.file`, `.vault`.
    package static func open(
        _ path: String = standardPath, credentials: String? = nil, faults: DurableFaults = .none,
        witness: LifeWitness = .system
    ) throws(StoreFault) -> StateDirectory {
        let root = try files { () throws(FileFault) in try Directory.open(path, faults: faults) }
        try files { () throws(FileFault) in try root.sweep() }
        let version = try version(of: root)
        let device = try deviceIdentifier(root)
        let places = try files { () throws(FileFault) in
            let secrets = try root.makeDirectory("private", mode: 0o700)
            try secrets.sweep()
            return Directories(
                keys: try root.makeDirectory("keys", mode: 0o755), secrets: secrets,
                accounts: try secrets.makeDirectory("accounts", mode: 0o700),
                stored: try secrets.makeDirectory("stored", mode: 0o700),
                templateKeys: try secrets.makeDirectory("template-keys", mode: 0o700),
                comparisons: try secrets.makeDirectory(
                    EnrolmentComparisonStore.directoryName, mode: 0o700))
        }
        try files { () throws(FileFault) in
            try places.keys.sweep()
            try places.stored.sweep()
            try places.templateKeys.sweep()
            try places.comparisons.sweep()
        }
        let host: HostSecret
        do throws(HostSecretFault) {
            host = try HostSecret.load(credentials: credentials, state: places.secrets)
        } catch { throw .hostSecret(error) }
        let state = StateDirectory(
            witness: witness, device: device, host: host,
            rootPin: RootPinFile(directory: places.secrets),
            owners: PrintOwners(directory: places.stored),
            templateKeys: try TemplateKeys(directory: places.templateKeys, host: host),
            comparisons: EnrolmentComparisonStore(
                directory: places.comparisons, accounts: places.accounts),
            keys: places.keys, secrets: places.secrets, accountsRoot: places.accounts)
        if version != Self.version {
            try state.migrate()
            try markAsPresent(root)
        }
        // The time of this file shows programs that wait for the daemon that it has started,
        // without starting it. Nothing depends on it.
        try? root.touch("device-id")
        return state
    }

    /// Returns the accounts whose change of the credential was interrupted by a crash.
    ///
    /// The changes must be completed before logins are served, because a PAM module may have read
    /// the public key already. Accounts that cannot be read are left out.
    package func unfinished() -> [AccountState] {
        ((try? keys.list()) ?? []).compactMap(AccountState.uid(ofNext:)).compactMap { uid in
            (try? account(uid: uid)).flatMap(\.self)
        }
    }

    /// Completes what a crash interrupted, for all accounts.
    ///
    /// Call it once, before requests are served. Opening and reading an account's state repairs
    /// nothing. The template keys of the `unfinished()` accounts must be open. A change that cannot
    /// be completed now is completed at the account's next login or change.
    package func recover() {
        for name in (try? accountsRoot.list()) ?? [] {
            guard let uid = UInt32(name), let directory = try? accountsRoot.directory(name) else {
                continue
            }
            do throws(StoreFault) {
                guard let account = try account(uid: uid) else {
                    // A crash interrupted the creation of this account, which does not exist yet.
                    try? directory.sweep()
                    continue
                }
                try account.recoverWithoutPrints()
            } catch { continue }
        }
        for name in (try? keys.list()) ?? [] {
            guard let uid = AccountState.uid(ofNext: name) else { continue }
            do throws(StoreFault) {
                if let account = try account(uid: uid) {
                    try account.recover()
                } else {
                    try files { () throws(FileFault) in try keys.remove(name) }
                }
            } catch { continue }
        }
    }

    /// Looks at what shows whether an account is the one that enrolled.
    package func look(_ name: AccountName, uid: UInt32) -> AccountEvidence {
        witness.look(name, uid)
    }

    /// Returns the state of an account; nil if nothing was ever stored for its uid.
    ///
    /// Throws `.anotherAccount` if the records of the uid bear another name, as after a uid was
    /// reused.
    package func account(_ name: AccountName, uid: UInt32) throws(StoreFault) -> AccountState? {
        guard let found = try account(uid: uid) else { return nil }
        guard found.name == name else { throw .anotherAccount(name: found.name) }
        return found
    }

    /// Returns the state of an account, and creates it if there is none.
    ///
    /// Throws as `account(_:uid:)` does, and `.unsupportedName` for a name that cannot be stored.
    package func makeAccount(
        _ name: AccountName, uid: UInt32, now: Instant
    ) throws(StoreFault) -> AccountState {
        if let found = try account(name, uid: uid) { return found }
        guard name.isUsable else { throw .unsupportedName }
        try comparisons.begin(uid: uid)
        let directory = try files { () throws(FileFault) in
            try accountsRoot.makeDirectory(String(uid), mode: 0o700)
        }
        // Remove files that a crash left of an earlier creation.
        try? directory.sweep()
        return state(
            directory,
            record: try AccountState.begin(
                directory, name: name, uid: uid, now: now, host: host, seen: look(name, uid: uid)))
    }

    /// Returns all accounts with state, ordered by uid.
    ///
    /// Those that cannot be read are left out.
    package func accounts() throws(StoreFault) -> [AccountState] {
        let names = try files { () throws(FileFault) in try accountsRoot.list() }
        var found: [AccountState] = []
        for uid in names.compactMap({ UInt32($0) }).sorted() {
            if let state = try? account(uid: uid) { found.append(state) }
        }
        return found
    }

    /// Deletes the public key and the directory of a uid, whatever the account's name.
    ///
    /// The public key is deleted first. The count of comparisons stays, and so do the hints in
    /// `stored/` and the template keys.
    package func removeAccount(uid: UInt32) throws(StoreFault) {
        try files { () throws(FileFault) in
            try keys.remove(AccountState.publicName(uid))
            try keys.remove(AccountState.offName(uid))
            try keys.remove(AccountState.nextName(uid))
            let directory: Directory
            do throws(FileFault) {
                directory = try accountsRoot.directory(String(uid))
            } catch {
                if error.isMissing { return }
                throw error
            }
            try AccountState.empty(directory)
            try accountsRoot.removeDirectory(String(uid))
        }
    }

    /// Returns the state of the account with this uid, whatever its name; nil if there is none.
    ///
    /// Throws `.damaged` if the record `account` cannot be used or belongs to another uid.
    package func account(uid: UInt32) throws(StoreFault) -> AccountState? {
        let directory: Directory
        do throws(FileFault) {
            directory = try accountsRoot.directory(String(uid))
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
        guard let record = try directory.record("account", as: AccountFile.self) else {
            return nil
        }
        guard record.uid == uid else { throw .damaged(path: directory.path + "/account") }
        return state(directory, record: record)
    }

    private func state(_ directory: Directory, record: AccountFile) -> AccountState {
        AccountState(
            record: record, accounts: accountsRoot, directory: directory,
            keys: keys, host: host, templates: templateKeys, rootPin: rootPin)
    }

    /// Returns the version that wrote the directory; nil at the first start.
    private static func version(of root: Directory) throws(StoreFault) -> UInt64? {
        let bytes = try files { () throws(FileFault) in
            try root.read("version", cap: 64, isPrivate: false)
        }
        guard let bytes else { return nil }
        return try version(in: bytes, path: root.path + "/version")
    }

    /// Parses the contents of a `version` file; `path` is for the fault.
    ///
    /// Throws `.newerVersion` or `.damaged`.
    static func version(in contents: [UInt8], path: String) throws(StoreFault) -> UInt64 {
        var lines = LineReader(contents)
        guard let found = try? lines.number("signet-state") else { throw .damaged(path: path) }
        guard found <= version else { throw .newerVersion(found) }
        guard found > 0, (try? lines.end()) != nil else { throw .damaged(path: path) }
        return found
    }

    /// Records that all files have the present format.
    private static func markAsPresent(_ root: Directory) throws(StoreFault) {
        var lines = LineWriter()
        lines.put("signet-state", number: version)
        let text = lines.text
        try files { () throws(FileFault) in try root.replace("version", bytes: text, mode: 0o644) }
    }

    private static func deviceIdentifier(_ root: Directory) throws(StoreFault) -> DeviceID {
        let bytes = try files { () throws(FileFault) in
            try root.read("device-id", cap: 64, isPrivate: false)
        }
        if let bytes { return try device(in: bytes, path: root.path + "/device-id") }
        let device: DeviceID = try random()
        let text = device.hexadecimal + [UInt8(ascii: "\n")]
        try files { () throws(FileFault) in try root.replace("device-id", bytes: text, mode: 0o644)
        }
        return device
    }

    /// Parses the contents of a `device-id` file; `path` is for the fault.
    static func device(in contents: [UInt8], path: String) throws(StoreFault) -> DeviceID {
        guard contents.count == 33, contents.last == UInt8(ascii: "\n"),
            let device = DeviceID(hexadecimal: Array(contents.dropLast()))
        else { throw .damaged(path: path) }
        return device
    }

    private struct Directories {
        let keys: Directory
        let secrets: Directory
        let accounts: Directory
        let stored: Directory
        let templateKeys: Directory
        let comparisons: Directory
    }
}

/// Returns a new id, and converts the fault.
func random<ID: FixedBytes>() throws(StoreFault) -> ID {
    do throws(SystemFault) {
        return ID(random: try randomBytes(ID.count))
    } catch { throw .file(.system(error)) }
}
