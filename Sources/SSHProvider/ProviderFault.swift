// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import LoginMessages
import LoginProtocol
import SSHProtocol

/// Why the provider did not do what OpenSSH asked; nothing was signed.
///
/// Every way ends in one of OpenSSH's codes, after which ssh goes on with its next key. None of them
/// makes OpenSSH ask for a PIN.
package enum ProviderFault: Error, Equatable {
    /// Another algorithm, or an option that must be understood and is not.
    case unsupported
    /// A null pointer, a length or a text that cannot be.
    case badCall
    /// signetd could not be reached, or ended the connection; this is what to tell the user.
    case away
    /// signetd gave no answer in time.
    case silent
    /// What answered is not root, or its answer is malformed.
    case untrusted
    /// The key's name cannot be one.
    case badName
    /// There is no memory for the answer.
    case memory
    /// The caller has no entry in the account database.
    case noAccount
    /// signetd refused.
    case denied(DenialOf<AnyReason>)

    /// The code for OpenSSH.
    package var code: Int32 {
        switch self {
        case .unsupported: Int32(SIGNET_SK_UNSUPPORTED)
        case .away: Int32(SIGNET_SK_NOT_FOUND)
        case .badCall, .silent, .untrusted, .badName, .memory, .noAccount:
            Int32(SIGNET_SK_GENERAL)
        case .denied(let denial): ProviderFault.code(of: denial.reason)
        }
    }

    private static func code(of reason: AnyReason) -> Int32 {
        switch SSHDenialReason(rawValue: reason.rawValue) {
        case .nameTaken: return Int32(SIGNET_SK_EXISTS)
        case .handleMalformed, .otherMachine, .otherAccount, .unknownKey, .keyInvalidated:
            return Int32(SIGNET_SK_NOT_FOUND)
        case .applicationRefused: return Int32(SIGNET_SK_UNSUPPORTED)
        case .tooManyKeys, .dataRefused, .otherKey: return Int32(SIGNET_SK_GENERAL)
        case nil: break
        }
        switch LoginDenialReason(rawValue: reason.rawValue) {
        case .noReader, .readerRemoved, .notEnrolled, .notEnabled, .invalidated:
            return Int32(SIGNET_SK_NOT_FOUND)
        default: return Int32(SIGNET_SK_GENERAL)
        }
    }
}
