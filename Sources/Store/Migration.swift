// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

// Version 1 had no list of prints: every file in `prints/` counted. And it had one vault only.
// Version 2 counted no comparisons, and its receipts did not say which of them were granted.
extension StateDirectory {
    /// Brings every account's records into the present form; those that have it stay as they are, so
    /// that what was interrupted is completed by doing it again.
    ///
    /// What an account's files are wrong in is left as it is, for the account's own opening to tell;
    /// a disk that fails ends it.
    func migrate() throws(StoreFault) {
        let names = try files { () throws(FileFault) in try accountsRoot.list() }
        for uid in names.compactMap({ UInt32($0) }) {
            do throws(StoreFault) {
                try migrateAccount(uid)
            } catch {
                guard error.isAboutContent else { throw error }
            }
        }
    }

    private func migrateAccount(_ uid: UInt32) throws(StoreFault) {
        // First: also an account whose own files are wrong has compared nothing yet.
        try comparisons.begin(uid: uid)
        let directory = try files { () throws(FileFault) in
            try accountsRoot.directory(String(uid))
        }
        try migrateCredential(in: directory)
        let contents = try files { () throws(FileFault) in
            try directory.read("account", cap: AccountRecord.cap)
        }
        guard let contents, var record = try? AccountRecord(versionOne: contents),
            record.uid == uid
        else { return }
        record.list(try printsOfVersionOne(directory, record))
        try directory.keep(record, as: "account")
    }

    private func migrateCredential(in directory: Directory) throws(StoreFault) {
        let contents = try files { () throws(FileFault) in
            try directory.read(CredentialStore.name, cap: CredentialRecord.cap)
        }
        guard let contents, let record = try? CredentialRecord(versionOne: contents) else { return }
        try directory.keep(record, as: CredentialStore.name)
    }

    /// All that counted as a print, damaged ones included; those that open come first where there
    /// are more than fit.
    private func printsOfVersionOne(
        _ directory: Directory, _ record: AccountRecord
    ) throws(StoreFault) -> [ListedPrint] {
        let prints = try files { () throws(FileFault) in
            try directory.makeDirectory(AccountState.printsName, mode: 0o700)
        }
        let account = AccountState(
            name: record.name, uid: record.uid, accounts: accountsRoot, directory: directory,
            keys: keys, host: host, templates: templateKeys, rootPin: rootPin)
        var intact: [ListedPrint] = []
        var damaged: [ListedPrint] = []
        for name in try files({ () throws(FileFault) in try prints.list() }) {
            guard let identifier = ListedPrint.identifier(ofFile: name) else { continue }
            switch try account.prints.load(identifier) {
            case .intact(let print):
                intact.append(ListedPrint(identifier: identifier, finger: print.finger))
            case .damaged(let finger):
                damaged.append(ListedPrint(identifier: identifier, finger: finger))
            }
        }
        return Array((intact + damaged).prefix(PrintStore.limit))
    }
}
