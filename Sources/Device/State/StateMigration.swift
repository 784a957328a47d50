// SPDX-License-Identifier: Apache-2.0
import Posix
import SignedFormats

// Version 1 had no list of prints (every file in `prints/` counted) and only one vault. Version 2
// did not count comparisons, and its receipts did not record which ones were granted. Version 3 had
// no marks of an account's life.
extension StateDirectory {
    /// Converts every account's records to the present format.
    ///
    /// Records in the present format are left alone, so that an interrupted migration is completed
    /// by running it again. Accounts with damaged files are skipped, and their damage is reported
    /// when they are opened. A failing disk throws, and the directory keeps its old version.
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
        // Do this first, even for an account with damaged files: no comparison of it has been
        // counted yet.
        try comparisons.begin(uid: uid)
        let directory = try files { () throws(FileFault) in
            try accountsRoot.directory(String(uid))
        }
        try migrateCredential(in: directory)
        let contents = try files { () throws(FileFault) in
            try directory.read("account", cap: AccountFile.cap)
        }
        if let contents, var record = try? AccountFile(versionOne: contents), record.uid == uid {
            record.list(try printsOfVersionOne(directory, record: record))
            try directory.keep(record, as: "account")
        }
        try mark(uid)
    }

    /// Takes the marks of an account that was enrolled before there were any.
    ///
    /// They are taken as found, so that no user has to give the password because of the new version.
    /// An account whose home and password are both younger than its last change of fingers gets
    /// none: it counts as replaced until the password is given. So does one whose name differs.
    private func mark(_ uid: UInt32) throws(StoreFault) {
        guard let account = try account(uid: uid),
            try account.directory.record(LifeMarks.name, as: LifeMarks.self) == nil
        else { return }
        let evidence = look(account.name, uid: uid)
        let enrolled = try account.lastVouched()
        guard LifeMarks.mayAdopt(evidence, enrolled: enrolled) else { return }
        try account.mark(evidence, now: enrolled)
    }

    private func migrateCredential(in directory: Directory) throws(StoreFault) {
        let contents = try files { () throws(FileFault) in
            try directory.read(CredentialStore.name, cap: CredentialRecord.cap)
        }
        guard let contents, let record = try? CredentialRecord(versionOne: contents) else { return }
        try directory.keep(record, as: CredentialStore.name)
    }

    /// Returns everything that counted as a print, damaged ones included.
    ///
    /// If there are too many, intact prints take precedence.
    private func printsOfVersionOne(
        _ directory: Directory, record: AccountFile
    ) throws(StoreFault) -> [ListedPrint] {
        let prints = try files { () throws(FileFault) in
            try directory.makeDirectory(AccountState.printsName, mode: 0o700)
        }
        let account = AccountState(
            record: record, accounts: accountsRoot, directory: directory, keys: keys,
            host: host, templates: templateKeys, rootPin: rootPin)
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
