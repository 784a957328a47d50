// SPDX-License-Identifier: Apache-2.0
import Authorization
import Domain
import Posix
import Sealing
import SignedFormats

/// The stored state of one account: prints, credential, lockout, counter, receipts and more.
///
/// Each call reads or writes the disk; nothing is cached. Only one caller may write at a time.
/// Opening an account and reading its state repairs nothing: see `recover`.
package struct AccountState: Sendable {
    /// The account's login name, as bytes.
    package let name: AccountName
    /// The name that everything of the account is sealed under; see `AccountFile`.
    let sealedName: AccountName
    /// The account's uid.
    package let uid: UInt32

    let accounts: Directory
    let directory: Directory
    let keys: Directory
    let host: HostSecret
    let templates: TemplateKeys
    let rootPin: RootPinFile
    /// The directory of the prints when the account was opened; nil if it did not exist.
    private let openedPrints: Directory?

    init(
        record: AccountFile, accounts: Directory, directory: Directory, keys: Directory,
        host: HostSecret, templates: TemplateKeys, rootPin: RootPinFile
    ) {
        name = record.name
        sealedName = record.sealedName
        uid = record.uid
        self.accounts = accounts
        self.directory = directory
        self.keys = keys
        self.host = host
        self.templates = templates
        self.rootPin = rootPin
        openedPrints = try? directory.directory(Self.printsName)
    }

    /// The directory of the prints; nil if it is missing, in which case every listed print is
    /// damaged.
    var printsDirectory: Directory? { openedPrints ?? (try? directory.directory(Self.printsName)) }

    /// The enrolled prints.
    package var prints: PrintStore { PrintStore(account: self) }
    /// The credential for this machine.
    package var credential: CredentialStore { CredentialStore(account: self) }
    /// The login password for the keyring.
    package var keyring: KeyringStore { KeyringStore(account: self) }
    /// The secrets that a touch releases.
    package var secrets: SecretStore { SecretStore(account: self) }
    /// The keys for servers and the signing key.
    package var servers: ServerStore { ServerStore(account: self) }
    /// The ssh keys.
    package var sshKeys: SSHKeyStore { SSHKeyStore(account: self) }
    /// The MAC tokens that servers issued.
    package var macTokens: MACTokenStore { MACTokenStore(account: self) }
    /// The denied attempts at the account, which its owner is shown.
    package var refusals: RefusalStore { RefusalStore(directory: directory) }
    /// The prints that readers have reported as lost.
    package var lostPrints: LostPrintStore { LostPrintStore(directory: directory) }
    /// The count of failed matches.
    package var lockout: LockoutStore { LockoutStore(directory: directory) }

    /// Opens the receipts and their counter.
    package func receipts() throws(StoreFault) -> ReceiptLog { try ReceiptLog(in: directory) }

    /// Returns the number of changes made to the set of prints.
    package func generation() throws(StoreFault) -> UInt64 { try record().generation }

    /// Returns the time at which the account's state was created.
    package func created() throws(StoreFault) -> Instant { try record().created }

    /// Reads the record `account`.
    ///
    /// Throws `.damaged` if it is missing or belongs to another account.
    func record() throws(StoreFault) -> AccountFile {
        guard let record = try directory.record("account", as: AccountFile.self),
            record.sealedName == sealedName, record.uid == uid
        else { throw .damaged(path: directory.path + "/account") }
        return record
    }

    /// Returns the record as it will be after a change of the prints, with the next generation.
    func changed(
        _ record: AccountFile, to prints: [ListedPrint]
    ) throws(StoreFault) -> AccountFile {
        guard record.generation < UInt64.max else {
            throw .damaged(path: directory.path + "/account")
        }
        var next = record
        next.generation += 1
        next.list(prints)
        return next
    }

    /// Writes the record durably.
    ///
    /// This single write makes a change of the prints effective.
    func keep(_ record: AccountFile) throws(StoreFault) {
        try directory.keep(record, as: "account")
    }

    /// Returns the directory of the prints, and creates it if it is missing.
    func makePrintsDirectory() throws(StoreFault) -> Directory {
        if let printsDirectory { return printsDirectory }
        return try files { () throws(FileFault) in
            try directory.makeDirectory(Self.printsName, mode: 0o700)
        }
    }

    /// Completes a change that a crash or a disk fault interrupted, for this account.
    ///
    /// The template keys of its prints must be open. Throws the reason if the change cannot be
    /// completed.
    package func recover() throws(StoreFault) {
        try recoverWithoutPrints()
        try credential.recover(for: prints.enrolment())
        try files { () throws(FileFault) in
            let mark = Self.nextName(uid)
            if try keys.contains(mark) { try keys.remove(mark) }
        }
    }

    /// Removes half-written files, in whatever directory, and completes the changes that do not
    /// depend on the contents of the prints.
    ///
    /// A file that cannot be removed now does no harm.
    func recoverWithoutPrints() throws(StoreFault) {
        try? directory.sweep()
        for name in (try? directory.subdirectories()) ?? [] {
            try? directory.directory(name).sweep()
        }
        prints.removeUnlisted(by: try record())
        try credential.recoverWithoutPrints()
    }

    /// Creates the files of a new account.
    ///
    /// The record `account` is written last. Only that record makes the directory an account. A
    /// lockout or counter that is missing later must therefore have been removed, and counts as
    /// such.
    static func begin(
        _ directory: Directory, name: AccountName, uid: UInt32, now: Instant, host: HostSecret,
        seen evidence: AccountEvidence
    ) throws(StoreFault) -> AccountFile {
        let record = AccountFile(name: name, uid: uid, generation: 0, created: now)
        try directory.keep(
            try LifeMarks(evidence, account: name, uid: uid, host: host, now: now),
            as: LifeMarks.name)
        try LockoutStore(directory: directory).save(.init())
        try directory.keep(CounterRecord(), as: ReceiptLog.counterName)
        try files { () throws(FileFault) in _ = try directory.makeDirectory(printsName, mode: 0o700)
        }
        try directory.keep(record, as: "account")
        return record
    }

    /// Deletes an account's files and directories, whatever they hold.
    ///
    /// The record `account` is deleted last, so that an interrupted deletion is noticed. A directory
    /// that cannot be deleted keeps none of the others.
    static func empty(_ directory: Directory) throws(FileFault) {
        var fault: FileFault?
        for name in try directory.subdirectories() {
            do throws(FileFault) {
                let inner = try directory.directory(name)
                for name in try inner.list() { try inner.remove(name) }
                try inner.sweep()
                try directory.removeDirectory(name)
            } catch { fault = fault ?? error }
        }
        if let fault { throw fault }
        for name in try directory.list() where name != "account" { try directory.remove(name) }
        try directory.remove("account")
        try directory.sweep()
    }

    static let printsName = "prints"

    /// The name of an account's public key in `keys/`.
    static func publicName(_ uid: UInt32) -> String { "\(uid).pub" }

    /// The name of the empty file in `keys/` that marks a credential as destroyed for a known
    /// reason.
    static func offName(_ uid: UInt32) -> String { "\(uid).off" }

    /// The name of the empty file in `keys/` that marks a public key as about to be published.
    static func nextName(_ uid: UInt32) -> String { "\(uid)\(nextSuffix)" }

    /// Returns the uid in a name that `nextName` produces; nil for any other name.
    static func uid(ofNext name: String) -> UInt32? {
        guard name.hasSuffix(nextSuffix), let uid = UInt32(name.dropLast(nextSuffix.count)),
            nextName(uid) == name
        else { return nil }
        return uid
    }

    private static let nextSuffix = ".next"
}
