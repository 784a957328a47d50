// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import ModuleOptions
import SignedFormats

/// The public key that was registered on this machine for an account's fingers.
struct RegisteredKey {
    let key: SSHPublicKey
    /// The credential's id, 16 bytes.
    let credential: Bytes

    /// What there is for an account.
    enum Registration {
        case key(RegisteredKey)
        /// The credential was destroyed: the daemon knows why.
        case switchedOff
    }

    private static let directory: StaticString = "/var/lib/signet/keys"

    /// Looks an account up; declines where nothing was ever registered.
    ///
    /// The daemon writes `UID.pub` when it issues a credential, and `UID.off` when it destroys one.
    static func look(for account: Bytes, uid: UInt32) throws(LoginFailure) -> Registration {
        let number = Decimal.encode(UInt64(uid))
        do throws(TrustedPath.Fault) {
            let keys = try TrustedPath.directory(directory.bytes)
            do throws(TrustedPath.Fault) {
                let line = try TrustedPath.contents(
                    of: number + StaticString(".pub").bytes, in: keys,
                    cap: SSHPublicKey.maximumLineLength)
                return .key(try parse(line, account: account))
            } catch .absent {
                if TrustedPath.isPresent(number + StaticString(".off").bytes, in: keys) {
                    return .switchedOff
                }
                throw .absent
            }
        } catch {
            switch error {
            case .absent: throw .declined("no key is registered for this account")
            case .failed: throw .declined("the registered keys cannot be looked at")
            case .untrusted: throw .refused("the registered key's file is not to be trusted")
            }
        }
    }

    /// The one form that a key's file has: the comment names its account and its credential.
    private static func parse(
        _ line: Bytes, account: Bytes
    ) throws(TrustedPath.Fault) -> RegisteredKey {
        guard let (key, comment) = try? SSHPublicKey.parse(line: line) else { throw .untrusted }
        let words = comment.parts(between: UInt8(ascii: ":"))
        guard words.count == 3, words[0] == StaticString("signet").bytes,
            PercentEncoding.decode(words[1]) == account,
            let credential = Hexadecimal.decode(words[2]), credential.count == 16
        else { throw .untrusted }
        return RegisteredKey(key: key, credential: credential)
    }
}
