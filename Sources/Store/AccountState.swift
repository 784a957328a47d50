// SPDX-License-Identifier: Apache-2.0
import Policy
import Posix
import SignedFormats
import Vault

/// What is kept for one account: its prints, credential, lockout, counter and receipts.
///
/// Each call reads or writes the disk; nothing is cached, and only one caller may write at a time.
package struct AccountState: Sendable {
    /// The account's login name, as bytes.
    package let name: [UInt8]
    /// The account's number.
    package let uid: UInt32

    let accounts: Directory
    let directory: Directory
    let keys: Directory
    let host: HostSecret
    let templates: TemplateKeys
    let rootPin: RootPinFile
    /// The directory of the prints when the account was opened.
    private let openedPrints: Directory?

    init(
        name: [UInt8], uid: UInt32, accounts: Directory, directory: Directory, keys: Directory,
        host: HostSecret, templates: TemplateKeys, rootPin: RootPinFile
    ) {
        self.name = name
        self.uid = uid
        self.accounts = accounts
        self.directory = directory
        self.keys = keys
        self.host = host
        self.templates = templates
        self.rootPin = rootPin
        openedPrints = try? directory.directory(Self.printsName)
    }

    /// The directory of the prints; nil where it is missing, and all prints with it.
    var printsDirectory: Directory? { openedPrints ?? (try? directory.directory(Self.printsName)) }

    /// The enrolled prints.
    package var prints: PrintStore { PrintStore(account: self) }
    /// The credential for this machine.
    package var credential: CredentialStore { CredentialStore(account: self) }
    /// The login password for the keyring.
    package var keyring: KeyringStore { KeyringStore(account: self) }
    /// The secrets that a touch releases.
    package var secrets: SecretStore { SecretStore(account: self) }
    /// The keys for servers.
    package var servers: ServerStore { ServerStore(account: self) }
    /// The MAC tokens that servers gave.
    package var macTokens: MACTokenStore { MACTokenStore(account: self) }
    /// The refused attempts, for the owner to see.
    package var refusals: RefusalStore { RefusalStore(directory: directory) }
    /// The failed matches.
    package var lockout: LockoutStore { LockoutStore(directory: directory) }

    /// The receipts and the counter.
    package func receipts() throws(StoreFault) -> ReceiptLog { try ReceiptLog(in: directory) }

    /// How often the set of prints was changed.
    package func generation() throws(StoreFault) -> UInt64 { try record().generation }

    /// When the account's state was made.
    package func created() throws(StoreFault) -> Instant { try record().created }

    /// The record as it is on disk now.
    func record() throws(StoreFault) -> AccountRecord {
        guard let record = try directory.record("account", as: AccountRecord.self),
            record.name == name, record.uid == uid
        else { throw .damaged(path: directory.path + "/account") }
        return record
    }

    /// The record after a change of the prints: no generation comes twice.
    func changed(
        _ record: AccountRecord, to prints: [ListedPrint]
    ) throws(StoreFault) -> AccountRecord {
        guard record.generation < UInt64.max else {
            throw .damaged(path: directory.path + "/account")
        }
        var next = record
        next.generation += 1
        next.list(prints)
        return next
    }

    /// Writes the record durably: the one step that makes a change of the prints.
    func keep(_ record: AccountRecord) throws(StoreFault) {
        try directory.keep(record, as: "account")
    }

    /// The directory of the prints, made where it is missing.
    func makePrintsDirectory() throws(StoreFault) -> Directory {
        if let printsDirectory { return printsDirectory }
        return try files { () throws(FileFault) in
            try directory.makeDirectory(Self.printsName, mode: 0o700)
        }
    }

    /// Completes what a crash or a fault of the disk left half-made of this account. Its prints must be
    /// open; throws what keeps it from being completed.
    package func recover() throws(StoreFault) {
        try recoverWithoutPrints()
        try credential.recover(for: prints.enrolment())
        try files { () throws(FileFault) in
            let mark = Self.nextName(uid)
            if try keys.contains(mark) { try keys.remove(mark) }
        }
    }

    /// Completes what was left half-made as far as that does not depend on what the prints are, and
    /// removes what was left half-written. What cannot be removed now is in nobody's way.
    func recoverWithoutPrints() throws(StoreFault) {
        try? directory.sweep()
        prints.sweep(try record())
        secrets.sweep()
        servers.sweep()
        macTokens.sweep()
        try credential.recoverWithoutPrints()
    }

    /// Fills a new account's directory; the record that makes it an account comes last, so that
    /// a lockout or counter which is missing later was taken away.
    static func begin(
        _ directory: Directory, name: [UInt8], uid: UInt32, now: Instant
    ) throws(StoreFault) -> AccountRecord {
        let record = AccountRecord(name: name, uid: uid, generation: 0, created: now)
        try LockoutStore(directory: directory).save(.init())
        try directory.keep(CounterRecord(), as: ReceiptLog.counterName)
        try files { () throws(FileFault) in _ = try directory.makeDirectory(printsName, mode: 0o700)
        }
        try directory.keep(record, as: "account")
        return record
    }

    /// Removes an account's files; the record goes last, so that an interrupted removal shows.
    static func empty(_ directory: Directory) throws(FileFault) {
        for part in [
            printsName, SecretStore.directoryName, ServerStore.directoryName,
            MACTokenStore.directoryName,
        ] {
            try empty(part, of: directory)
        }
        for name in try directory.list() where name != "account" { try directory.remove(name) }
        try directory.remove("account")
        try directory.sweep()
    }

    private static func empty(_ part: String, of directory: Directory) throws(FileFault) {
        do throws(FileFault) {
            let inner = try directory.directory(part)
            for name in try inner.list() { try inner.remove(name) }
            try inner.sweep()
            try directory.removeDirectory(part)
        } catch {
            if !error.isMissing { throw error }
        }
    }

    static let printsName = "prints"

    /// The name of an account's public key in `keys/`.
    static func publicName(_ uid: UInt32) -> String { "\(uid).pub" }

    /// The name of the mark in `keys/` that a credential was destroyed for a reason.
    static func offName(_ uid: UInt32) -> String { "\(uid).off" }

    /// The name of the mark in `keys/` that a public key is about to be published.
    static func nextName(_ uid: UInt32) -> String { "\(uid)\(nextSuffix)" }

    /// The uid that a mark is about; nil where a name is no such mark's.
    static func uid(ofNext name: String) -> UInt32? {
        guard name.hasSuffix(nextSuffix), let uid = UInt32(name.dropLast(nextSuffix.count)),
            nextName(uid) == name
        else { return nil }
        return uid
    }

    private static let nextSuffix = ".next"
}
