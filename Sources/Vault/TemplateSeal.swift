// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix

/// Whose print it is, and what was said about it when it was enrolled.
package struct TemplateContext: Equatable, Sendable {
    /// The account's login name, as bytes.
    package let account: [UInt8]
    /// The account's number.
    package let uid: UInt32
    /// The print's id, 16 bytes.
    package let identifier: [UInt8]
    /// The finger's name.
    package let finger: String
    /// The reader's name.
    package let reader: String

    /// Describes a print by its values.
    package init(
        account: [UInt8], uid: UInt32, identifier: [UInt8], finger: String, reader: String
    ) {
        self.account = account
        self.uid = uid
        self.identifier = identifier
        self.finger = finger
        self.reader = reader
    }

    var encoded: [UInt8] {
        var fields = LengthPrefixed(label: "signet template 1")
        fields.append(account)
        fields.append(UInt64(uid))
        fields.append(identifier)
        fields.append(Array(finger.utf8))
        fields.append(Array(reader.utf8))
        return fields.bytes
    }
}

/// Seals templates at rest, each bound to its account, print and description: AES-256-GCM.
package struct TemplateSeal: Sendable {
    /// The most bytes a template can have; an image reader's print has some 100 kB.
    package static let templateLimit = 1 << 20

    private let key: SecretBytes

    /// Seals with the key that the host secret alone gives.
    package init(host: HostSecret) throws(VaultError) {
        key = try crypto { () throws(CryptoFault) in
            try HKDF.derive(
                from: host.secret, salt: [], info: Array("signet templates 1".utf8),
                count: AESGCM.keyCount)
        }
    }

    /// Seals with a key of 32 bytes that a vault has opened; throws `.malformed` for any other.
    package init(key: SecretBytes) throws(VaultError) {
        guard key.count == AESGCM.keyCount else { throw .malformed }
        self.key = key
    }

    /// Seals a template of 1 byte up to the limit.
    package func seal(
        _ template: SecretBytes, _ context: TemplateContext
    ) throws(VaultError) -> [UInt8] {
        guard (1...Self.templateLimit).contains(template.count) else { throw .malformed }
        return try crypto { () throws(CryptoFault) in
            try AESGCM.seal(template, key: key, additional: context.encoded)
        }
    }

    /// Opens a template; `.doesNotOpen` for another's, another print's, an altered or a cut one.
    package func open(
        _ sealed: [UInt8], _ context: TemplateContext
    ) throws(VaultError) -> SecretBytes {
        guard sealed.count <= Self.templateLimit + AESGCM.overhead else { throw .malformed }
        return try crypto { () throws(CryptoFault) in
            try AESGCM.open(sealed, key: key, additional: context.encoded)
        }
    }
}
