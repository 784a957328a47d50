// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import Domain
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats

/// Checks whether the public keys are intact and belong to accounts that exist, as the module reads
/// them.
struct KeyCheck {
    let files: MachineFiles
    let nameService: NameService

    func findings() -> [Finding] {
        let all = files.publicFiles()
        return all.compactMap { file in
            let found: String?
            do throws(SystemFault) {
                found = try nameService.account(file.uid)
            } catch {
                // A name service that does not answer does not mean that there is no such account.
                return nil
            }
            guard let account = found.map({ AccountName($0) }) else {
                return Self.ofNobody(file.path, uid: file.uid)
            }
            switch file.kind {
            case .pub: return finding(on: file, account: account)
            case .next: return Self.halfChanged(file.path)
            case .off:
                let hasKey = all.contains { $0.uid == file.uid && $0.kind == .pub }
                return hasKey ? Self.andMark(file.path, account: account) : nil
            }
        }
    }

    private func finding(on file: PublicFile, account: AccountName) -> Finding? {
        // An unreadable file, or something other than a file, is reported by the check of its mode.
        guard let line = files.read(file.path, cap: SSHPublicKey.maximumLineLength + 1) else {
            return nil
        }
        guard let owner = Self.owner(ofKey: line) else {
            return Self.damaged(file.path, account: account)
        }
        return owner == account.bytes
            ? nil : Self.ofAnother(file.path, names: owner, account: account, uid: file.uid)
    }

    /// The account named in a key's comment, `signet:ACCOUNT:CREDENTIAL`.
    ///
    /// Nil unless the line is exactly as the daemon writes it; the credential is 16 bytes in
    /// hexadecimal.
    private static func owner(ofKey line: Bytes) -> Bytes? {
        guard line.count <= SSHPublicKey.maximumLineLength,
            let (_, comment) = try? SSHPublicKey.parse(line: line)
        else { return nil }
        let words = comment.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard words.count == 3, Bytes(words[0]) == "signet".bytes,
            let name = PercentEncoding.decode(Bytes(words[1])),
            Hexadecimal.decode(Bytes(words[2]))?.count == 16
        else { return nil }
        return name
    }
}

extension KeyCheck {
    /// A public key cannot be read.
    static func damaged(_ path: String, account: AccountName) -> Finding {
        Finding(
            "key-damaged", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) is not a public key in Signet's format",
            why: "the module refuses every touch of \(account), and logs an alert in the journal",
            mend: Remedy.lookThenEnable(account))
    }

    /// A public key names another account.
    static func ofAnother(
        _ path: String, names: Bytes, account: AccountName, uid: UInt32
    ) -> Finding {
        Finding(
            "key-of-another", level: .fault, area: .files, subject: path.bytes,
            what: "\(path) is the key of \(names), but uid \(number: uid) is \(account)",
            why: """
                the account was renamed, or its uid was given to another account. Neither of them \
                can log in with this key. If the uid now belongs to another person, delete the \
                stored data
                """,
            mend: "getent passwd \(number: uid); \(Remedy.lookThenAdopt(account))")
    }

    /// A public key's account does not exist.
    static func ofNobody(_ path: String, uid: UInt32) -> Finding {
        Finding(
            "key-of-nobody", level: .warning, area: .files, subject: path.bytes,
            what: "\(path) is the key of uid \(number: uid), but no account has this uid",
            why: """
                the next account with this uid inherits the key, and its touches are refused. \
                Remove the key
                """,
            mend: """
                getent passwd \(number: uid) || find /var/lib/signet/keys \
                /var/lib/signet/private/accounts -maxdepth 1 '(' -name \(number: uid) -o -name \
                '\(number: uid).*' ')' -exec mv -n -t /root/ {} +
                """)
    }

    /// A change of a key was interrupted.
    private static func halfChanged(_ path: String) -> Finding {
        Finding(
            "key-half-changed", level: .warning, area: .files, subject: path.bytes,
            what: "\(path) says that a key is being replaced right now",
            why: """
                if no user is enrolling a finger or enabling login right now, a crash left this \
                file behind. The daemon cleans it up
                """,
            mend: "systemctl restart signetd")
    }

    /// A key exists although it is marked as destroyed.
    static func andMark(_ path: String, account: AccountName) -> Finding {
        Finding(
            "key-and-mark", level: .warning, area: .files, subject: path.bytes,
            what: "\(path) says that a key was destroyed, but the key still exists",
            why: "one of the two was not written by Signet. Issue the key of \(account) again",
            mend: Remedy.lookThenEnable(account))
    }
}
