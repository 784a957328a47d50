// SPDX-License-Identifier: Apache-2.0
import Crypto
import Gate
import Posix
import SignedFormats

// What sealed keys and data do without a match, and why that is all: the rest takes one.

/// The statement by which a device gives up its registration at a server, as it is signed.
///
/// Good for nothing else: it says itself that no finger was there, and servers take such a statement
/// for a removal alone.
package struct RemovalMessage: Sendable {
    let bytes: [UInt8]

    /// Throws `.malformed` for a statement about anything but a removal, or that claims a touch.
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

/// Data on their way from one sealing to another. Only the vaults can read them.
package struct LiftedData: Sendable {
    let content: SecretBytes
}

extension Vault {
    /// Seals data that a vault has opened for just that.
    package func seal(
        _ data: LiftedData, _ context: SealingContext
    ) throws(VaultError) -> [UInt8] {
        try seal(data.content, context)
    }
}

extension TemplateSeal {
    /// Opens a key of templates. No finger opens it: the fingers lie behind it.
    package init(_ data: any ReadyData, _ context: SealingContext) throws(VaultError) {
        guard context.use == .templates else { throw .malformed }
        try self.init(key: try data.lift(context).content)
    }
}

extension SealingContext {
    /// How long after it a match opens anything. A TPM that is slow, and has several keys to open for
    /// one touch, takes some seconds.
    private static let longestAge = Duration.seconds(60)

    /// Throws unless the finger that matched is one of the account's whose key or data this is about,
    /// and has just matched.
    func check(_ match: borrowing Match) throws(VaultError) {
        guard match.age >= .zero, match.age < Self.longestAge else {
            throw .trouble(.failed("the finger matched too long ago"))
        }
        guard match.account == uid else {
            throw .trouble(.failed("the finger that matched is another account's"))
        }
    }
}
