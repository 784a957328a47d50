// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix

/// The description of a print that its template is bound to.
package struct TemplateContext: Equatable, Sendable {
    /// The account's login name, as bytes.
    package let account: AccountName
    /// The account's uid.
    package let uid: UInt32
    /// The print's id.
    package let identifier: PrintID
    /// The finger's name.
    package let finger: String
    /// The reader's name.
    package let reader: String

    /// Creates a description from its values.
    package init(
        account: AccountName, uid: UInt32, identifier: PrintID, finger: String, reader: String
    ) {
        self.account = account
        self.uid = uid
        self.identifier = identifier
        self.finger = finger
        self.reader = reader
    }

    var encoded: [UInt8] {
        var fields = LengthPrefixed(label: "signet template 1")
        fields.append(account.bytes)
        fields.append(UInt64(uid))
        fields.append(identifier.bytes)
        fields.append(Array(finger.utf8))
        fields.append(Array(reader.utf8))
        return fields.bytes
    }
}

/// Seals templates at rest with AES-256-GCM, each bound to its account, print and description.
///
/// The key is derived from the host secret, or opened by a vault. Templates must be readable before
/// a finger can match, so opening one needs no finger.
package struct TemplateSeal: Sendable {
    /// The maximum length of a template in bytes.
    ///
    /// A print of an image reader takes about 100 kB.
    package static let templateLimit = 1 << 20

    private let key: SecretBytes

    /// Creates a seal whose key is derived from the host secret alone.
    package init(host: HostSecret) throws(VaultError) {
        key = try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: host.secret, salt: [], info: Array("signet templates 1".utf8),
                count: AESGCM.keyCount)
        }
    }

    /// Creates a seal with a key that a vault has opened.
    ///
    /// Throws `.malformed` unless the key is 32 bytes long.
    package init(key: SecretBytes) throws(VaultError) {
        guard key.count == AESGCM.keyCount else { throw .malformed }
        self.key = key
    }

    /// Seals a template.
    ///
    /// Throws `.malformed` unless it has 1 to `templateLimit` bytes.
    package func seal(
        _ template: SecretBytes, context: TemplateContext
    ) throws(VaultError) -> [UInt8] {
        guard (1...Self.templateLimit).contains(template.count) else { throw .malformed }
        return try crypto { () throws(CryptoFault) in
            try AESGCM.seal(template, key: key, additional: context.encoded)
        }
    }

    /// Opens a template.
    ///
    /// Throws `.doesNotOpen` for the template of another account or print and for altered or
    /// truncated bytes, and `.malformed` for more bytes than any template has.
    package func open(
        _ sealed: [UInt8], context: TemplateContext
    ) throws(VaultError) -> SecretBytes {
        guard sealed.count <= Self.templateLimit + AESGCM.overhead else { throw .malformed }
        return try crypto { () throws(CryptoFault) in
            try AESGCM.open(sealed, key: key, additional: context.encoded)
        }
    }
}
