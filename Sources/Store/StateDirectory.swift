// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats
import Vault

/// The root of all that is kept on disk; one daemon owns it.
///
/// `version`, `device-id`; `keys/<uid>.pub` for everybody to read; `private/host-secret`,
/// `private/template-keys/`, `private/reader-work`, `private/offers`, `private/stored/` for what readers keep;
/// `private/comparisons/<uid>` for fingers compared while an account enrolled;
/// `private/accounts/<uid>/` with account, prints/, secrets/, servers/, mac-tokens/, credential,
/// keyring, signers, lockout, counter, receipts, refusals. The doctor knows these names: see `StateFiles`.
package struct StateDirectory: Sendable {
    /// Where it is on an installed system.
    package static let standardPath = "/var/lib/signet"
    /// The form of the files below it.
    package static let version: UInt64 = 3

    /// This machine's id, 16 bytes, random.
    package let device: [UInt8]
    /// The machine's secret.
    package let host: HostSecret

    /// Where the Name of the TPM's storage root key is kept.
    package let rootPin: RootPinFile

    /// Whose the prints are that readers keep.
    package let owners: PrintOwners

    /// The keys that templates are sealed with.
    package let templateKeys: TemplateKeys

    /// How often accounts have compared fingers while they enrolled.
    package let comparisons: EnrolmentComparisonStore

    let keys: Directory
    let secrets: Directory
    let accountsRoot: Directory

    /// Opens the state, made where it is new, brought forward where an older version wrote it, and
    /// sweeps what a crash left half-written outside of accounts; `recover` does the rest.
    ///
    /// The path and all above it must be owned by root, not writable by others, and no links.
    /// - Parameters:
    ///   - credentials: the directory of systemd's credentials, or nil.
    ///   - faults: for tests.
    package static func open(
        _ path: String = standardPath, credentials: String? = nil, faults: DurableFaults = .none
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
            device: device, host: host, rootPin: RootPinFile(directory: places.secrets),
            owners: PrintOwners(directory: places.stored),
            templateKeys: try TemplateKeys(directory: places.templateKeys, host: host),
            comparisons: EnrolmentComparisonStore(
                directory: places.comparisons, accounts: places.accounts),
            keys: places.keys, secrets: places.secrets, accountsRoot: places.accounts)
        if version != Self.version {
            try state.migrate()
            try markAsPresent(root)
        }
        // Tells who waits for the daemon without starting it; nothing depends on that.
        try? root.touch("device-id")
        return state
    }

    /// The accounts whose change of a credential a crash left half-made.
    ///
    /// Before anybody asks for a login it is to be finished: who asks has read the public key already.
    package func unfinished() -> [AccountState] {
        ((try? keys.list()) ?? []).compactMap(AccountState.uid(ofNext:)).compactMap { uid in
            (try? account(uid: uid)).flatMap(\.self)
        }
    }

    /// Completes what a crash left half-made of all accounts. Called once, before anybody is served:
    /// opening and reading an account's state changes nothing.
    ///
    /// The keys of the prints of `unfinished()` accounts are to be open. Where something cannot be
    /// completed now, the account's next login or change does it.
    package func recover() {
        for name in (try? accountsRoot.list()) ?? [] {
            guard let uid = UInt32(name), let directory = try? accountsRoot.directory(name) else {
                continue
            }
            do throws(StoreFault) {
                guard let account = try account(uid: uid) else {
                    // A crash while it was made: it is nobody's yet.
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

    /// The state of an account, nil where nothing was ever kept for its uid.
    ///
    /// Throws `.anotherAccount` where the uid's records carry another name.
    package func account(_ name: [UInt8], uid: UInt32) throws(StoreFault) -> AccountState? {
        guard let found = try account(uid: uid) else { return nil }
        guard found.name == name else { throw .anotherAccount(name: found.name) }
        return found
    }

    /// The state of an account, made where there is none.
    package func makeAccount(
        _ name: [UInt8], uid: UInt32, now: Instant
    ) throws(StoreFault) -> AccountState {
        if let found = try account(name, uid: uid) { return found }
        guard AccountRecord.isSupported(name: name) else { throw .unsupportedName }
        try comparisons.begin(uid: uid)
        let directory = try files { () throws(FileFault) in
            try accountsRoot.makeDirectory(String(uid), mode: 0o700)
        }
        // What a crash left while it was made before.
        try? directory.sweep()
        return state(
            directory, try AccountState.begin(directory, name: name, uid: uid, now: now))
    }

    /// All accounts that something is kept for, by uid; damaged ones are left out.
    package func accounts() throws(StoreFault) -> [AccountState] {
        let names = try files { () throws(FileFault) in try accountsRoot.list() }
        var found: [AccountState] = []
        for uid in names.compactMap({ UInt32($0) }).sorted() {
            if let state = try? account(uid: uid) { found.append(state) }
        }
        return found
    }

    /// Removes everything that is kept for a uid but its count of comparisons, whoever's it is; the
    /// public key goes first.
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

    /// The state of the account of a uid, whatever its name, nil where nothing is kept for it.
    package func account(uid: UInt32) throws(StoreFault) -> AccountState? {
        let directory: Directory
        do throws(FileFault) {
            directory = try accountsRoot.directory(String(uid))
        } catch {
            if error.isMissing { return nil }
            throw .file(error)
        }
        guard let record = try directory.record("account", as: AccountRecord.self) else {
            return nil
        }
        guard record.uid == uid else { throw .damaged(path: directory.path + "/account") }
        return state(directory, record)
    }

    private func state(_ directory: Directory, _ record: AccountRecord) -> AccountState {
        AccountState(
            name: record.name, uid: record.uid, accounts: accountsRoot, directory: directory,
            keys: keys, host: host, templates: templateKeys, rootPin: rootPin)
    }

    /// The version that wrote what is there; nil where nothing says so, as at the first start.
    private static func version(of root: Directory) throws(StoreFault) -> UInt64? {
        let bytes = try files { () throws(FileFault) in
            try root.read("version", cap: 64, isPrivate: false)
        }
        guard let bytes else { return nil }
        return try version(in: bytes, path: root.path + "/version")
    }

    /// The version that a file tells, which lies at a path.
    static func version(in contents: [UInt8], path: String) throws(StoreFault) -> UInt64 {
        var lines = LineReader(contents)
        guard let found = try? lines.number("signet-state") else { throw .damaged(path: path) }
        guard found <= version else { throw .newerVersion(found) }
        guard found > 0, (try? lines.end()) != nil else { throw .damaged(path: path) }
        return found
    }

    /// Says that all that is there has the present form.
    private static func markAsPresent(_ root: Directory) throws(StoreFault) {
        var lines = LineWriter()
        lines.put("signet-state", number: version)
        let text = lines.text
        try files { () throws(FileFault) in try root.replace("version", text, mode: 0o644) }
    }

    private static func deviceIdentifier(_ root: Directory) throws(StoreFault) -> [UInt8] {
        let bytes = try files { () throws(FileFault) in
            try root.read("device-id", cap: 64, isPrivate: false)
        }
        if let bytes { return try device(in: bytes, path: root.path + "/device-id") }
        let device = try random(16)
        let text = Hexadecimal.encode(device) + [UInt8(ascii: "\n")]
        try files { () throws(FileFault) in try root.replace("device-id", text, mode: 0o644) }
        return device
    }

    /// The machine's id that a file tells, which lies at a path.
    static func device(in contents: [UInt8], path: String) throws(StoreFault) -> [UInt8] {
        guard contents.count == 33, contents.last == UInt8(ascii: "\n"),
            let device = Hexadecimal.decode(Array(contents.dropLast()))
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

/// Random bytes, with the fault in this layer's words.
func random(_ count: Int) throws(StoreFault) -> [UInt8] {
    do throws(SystemFault) {
        return try randomBytes(count)
    } catch { throw .file(.system(error)) }
}
