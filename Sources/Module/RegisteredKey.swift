// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import Domain
import LoginProtocol
import ModuleOptions
import SignedFormats

/// The public key that was registered on this machine for an account's fingers.
///
/// The daemon writes it to a directory that only root can write to, and the module verifies every
/// statement with it.
struct RegisteredKey {
    let key: SSHPublicKey
    let credential: CredentialID

    /// What is registered for an account.
    enum Registration {
        case key(RegisteredKey)
        /// The credential was destroyed; the daemon knows the reason.
        case switchedOff
    }

    private static let directory: StaticString = "/var/lib/signet/keys"

    /// Looks up the registration of an account.
    ///
    /// The daemon writes `UID.pub` when it issues a credential, and `UID.off` when it destroys one.
    ///
    /// - Parameter isKnown: whether the system has an account of a name. A key of an account that is
    ///   gone was left by a renaming or a deletion, and the daemon knows the reason.
    /// - Throws: `.declined` if nothing was ever registered or the directory cannot be read,
    ///   `.refused` if the file is not trusted, malformed, or another account's.
    static func look(
        for account: AccountName, uid: UInt32, isKnown: (AccountName) -> Bool = { _ in true }
    ) throws(LoginFailure) -> Registration {
        let number = Decimal.encode(UInt64(uid))
        do throws(TrustedPath.Fault) {
            let keys = try TrustedPath.directory(directory.bytes)
            do throws(TrustedPath.Fault) {
                let line = try TrustedPath.contents(
                    of: number + StaticString(".pub").bytes, in: keys,
                    cap: SSHPublicKey.maximumLineLength)
                let (key, name) = try parse(line)
                guard name != account else { return .key(key) }
                guard !isKnown(name) else { throw .untrusted }
                return .switchedOff
            } catch .absent {
                if TrustedPath.isPresent(number + StaticString(".off").bytes, in: keys) {
                    return .switchedOff
                }
                throw .absent
            }
        } catch {
            switch error {
            case .absent: throw .declined("no key is registered for this account")
            case .failed: throw .declined("the registered keys cannot be read")
            case .untrusted: throw .refused("the registered key's file is not trusted")
            }
        }
    }

    /// Parses the key's file, whose comment is `signet:ACCOUNT:CREDENTIAL`.
    private static func parse(
        _ line: Bytes
    ) throws(TrustedPath.Fault) -> (key: RegisteredKey, account: AccountName) {
        guard let (key, comment) = try? SSHPublicKey.parse(line: line) else { throw .untrusted }
        let words = comment.parts(between: UInt8(ascii: ":"))
        guard words.count == 3, words[0] == StaticString("signet").bytes,
            let name = PercentEncoding.decode(words[1]),
            let credential = CredentialID(hexadecimal: words[2])
        else { throw .untrusted }
        return (RegisteredKey(key: key, credential: credential), AccountName(name))
    }
}
