// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix
import SignedFormats

// This file defines the uses of sealed keys and data that need no match: the statement of a
// removal, data that are about to be sealed again, and template keys. `Vault.reseal` needs no match
// either, but yields only sealed bytes, and only with a permission (`Resealing.swift`). Everything else requires a `Match` or a `PasswordMatch`. The
// statement of a registration, which needs either, is defined here beside that of a removal.

/// The signed form of the statement by which a device gives up its registration at a server.
///
/// It can serve no other purpose: it says that no finger was involved (`Factor.possession`), and
/// servers accept such a statement only for a removal.
package struct RemovalMessage: Sendable {
    let bytes: [UInt8]

    /// Creates the bytes to sign from a statement, in the form of PROTOCOL.sshsig with SHA-256.
    ///
    /// Throws `.malformed` for a statement about anything but a removal, or one that claims a
    /// touch.
    package init(_ statement: LoginStatement) throws(VaultError) {
        guard statement.action == LoginAction.remove,
            statement.claims.factor == Factor.possession
        else { throw .malformed }
        let text = statement.encoded()
        bytes = try crypto { () throws(CryptoFault) in
            SSHSignature.signedData(
                namespace: SignatureNamespace.login.bytes,
                messageDigest: try SHA256.digest(text))
        }
    }
}

/// The signed form of the statement that registers keys, which each of the new keys signs.
///
/// A match of either factor suffices for it: the keys were made in the same request, and the
/// signature shows only that the device has them. No server accepts the statement for a login.
package struct RegistrationMessage: Sendable {
    let bytes: [UInt8]

    /// Creates the bytes to sign from a statement, in the namespace of registrations.
    ///
    /// Throws `.malformed` for a statement about anything but a registration or a new password key.
    package init(_ statement: LoginStatement) throws(VaultError) {
        guard
            statement.action == LoginAction.register || statement.action == LoginAction.passwordKey
        else { throw .malformed }
        let text = statement.encoded()
        bytes = try crypto { () throws(CryptoFault) in
            SSHSignature.signedData(
                namespace: SignatureNamespace.registration.bytes,
                messageDigest: try SHA256.digest(text))
        }
    }
}

/// Opened data that are about to be sealed again.
///
/// Only vaults can read them.
package struct LiftedData: Sendable {
    let content: SecretBytes
}

extension Vault {
    /// Seals data that a vault has opened for this purpose.
    ///
    /// Throws as `seal(_:context:)` for secret bytes does.
    package func seal(
        _ data: LiftedData, context: SealingContext
    ) throws(VaultError) -> [UInt8] {
        try seal(data.content, context: context)
    }
}

extension TemplateSeal {
    /// Opens a template key without a match, since templates must be readable before a finger can
    /// match.
    ///
    /// Throws `.malformed` for a context of any other use.
    package init(_ data: any ReadyData, context: SealingContext) throws(VaultError) {
        guard context.use == .templates else { throw .malformed }
        try self.init(key: try data.lift(context).content)
    }
}
