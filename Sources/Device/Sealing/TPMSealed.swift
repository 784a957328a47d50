// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPM
import TPMStructures

/// The stored form of a key or data of the TPM vault.
///
/// Parsing it needs no TPM.
///
/// Bytes: magic (6), version (1), kind (1), Name of the root key (34), PCR bitmap (3), the SHA-256
/// of the PCR values (32) if the bitmap is not empty, TPM2B_PUBLIC, TPM2B_PRIVATE, and nothing
/// after them.
package struct TPMSealed: Equatable, Sendable {
    /// The kind of the content.
    ///
    /// A key never opens as data, nor data as a key.
    package enum Content: UInt8, Sendable {
        /// A signing key.
        case key = 2
        /// Data of up to 128 bytes.
        case data = 4
    }

    let content: Content
    /// The Name of the storage root key that the object was created under.
    package let root: [UInt8]
    let policy: ObjectPolicy
    let parts: ObjectParts

    init(content: Content, root: [UInt8], policy: ObjectPolicy, parts: ObjectParts) {
        self.content = content
        self.root = root
        self.policy = policy
        self.parts = parts
    }

    /// Parses stored bytes and verifies the public area.
    ///
    /// Throws `.malformed` for bytes of another form, kind or version, and `.doesNotOpen` for a
    /// public area that this vault would not have created under the stored policy. An object with
    /// altered attributes, algorithms or policy therefore never reaches the TPM.
    package init(_ bytes: [UInt8], as content: Content) throws(VaultError) {
        let header = TPMSealed.header(content)
        guard bytes.count <= VaultLimit.sealed, bytes.starts(with: header) else {
            throw .malformed
        }
        var reader = WireReader(Array(bytes.dropFirst(header.count)))
        guard let root = reader.bytes(PublicArea.nameCount),
            let registers = reader.bytes(3).flatMap(RegisterSelection.init(bitmap:)),
            let digest = reader.bytes(registers.isEmpty ? 0 : SHA256.digestCount),
            let policy = ObjectPolicy(registers: registers, registerDigest: digest),
            let area = reader.sized(limit: PublicArea.limit),
            let sealed = reader.sized(limit: VaultLimit.sealed), !sealed.isEmpty, reader.isAtEnd
        else { throw .malformed }
        self.init(
            content: content, root: root, policy: policy,
            parts: ObjectParts(area: PublicArea(bytes: area), sealed: sealed))
        guard try isAsMade() else { throw .doesNotOpen }
    }

    /// Returns the stored form, at most `VaultLimit.sealed` bytes; throws `.malformed` if it would
    /// be longer.
    func bytes() throws(VaultError) -> [UInt8] {
        guard let area = sized(parts.area.bytes), let sealed = sized(parts.sealed) else {
            throw .malformed
        }
        let bytes =
            TPMSealed.header(content) + root + policy.registers.bitmap + policy.registerDigest
            + area + sealed
        guard bytes.count <= VaultLimit.sealed else { throw .malformed }
        return bytes
    }

    /// Returns the public key of a signing key, 65 bytes; nil for data.
    func publicPoint() throws(VaultError) -> [UInt8]? {
        try crypto { () throws(CryptoFault) in parts.area.signerPoint(policy: try policy.digest()) }
    }

    /// Whether the public area is exactly one that the vault creates for this kind and policy.
    private func isAsMade() throws(VaultError) -> Bool {
        switch content {
        case .key: try publicPoint() != nil
        case .data:
            try crypto { () throws(CryptoFault) in
                parts.area.isData(policy: try policy.digest())
            }
        }
    }

    private static func header(_ content: Content) -> [UInt8] {
        Array("signet".utf8) + [1, content.rawValue]
    }
}
