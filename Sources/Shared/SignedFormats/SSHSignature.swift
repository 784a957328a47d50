// SPDX-License-Identifier: Apache-2.0
/// The purpose of a signature: a signature for one purpose is never valid for another.
///
/// It is the namespace of PROTOCOL.sshsig, which is part of the signed data.
/// docs/developer/PROTOCOL.md lists what is signed in each.
package enum SignatureNamespace: CaseIterable, Sendable {
    case login
    case secret
    case request
    case operation
    case file
    case registration
    case verdict
    case challenge
    case desktop

    /// The namespace as it is written in a signature.
    package var bytes: [UInt8] {
        switch self {
        case .login: StaticString("login@signet").bytes
        case .secret: StaticString("secret@signet").bytes
        case .request: StaticString("request@signet").bytes
        case .operation: StaticString("operation@signet").bytes
        case .file: StaticString("file@signet").bytes
        case .registration: StaticString("registration@signet").bytes
        case .verdict: StaticString("verdict@signet").bytes
        case .challenge: StaticString("challenge@signet").bytes
        case .desktop: StaticString("desktop@signet").bytes
        }
    }
}

/// An OpenSSH signature by a P-256 key over a SHA-256 digest; PROTOCOL.sshsig.
///
/// Parsing checks only the form: one version, algorithm and hash is accepted, in one encoding. It
/// says nothing about validity. The caller must compare the key and the namespace with those that
/// it expects, and verify `r` and `s` over `signedData`; `P256PublicKey.verifies(blob:of:in:)` does
/// all of that.
package struct SSHSignature: Equatable, Sendable {
    /// The key that the signature itself names as its signer; not trusted.
    package let publicKey: SSHPublicKey
    /// The namespace that the signature names.
    package let namespace: [UInt8]
    /// The first ECDSA integer, 32 bytes, big-endian.
    package let r: [UInt8]
    /// The second ECDSA integer, 32 bytes, big-endian.
    package let s: [UInt8]

    private static let magic: StaticString = "SSHSIG"
    private static let hash: StaticString = "sha256"
    private static let version: UInt32 = 1
    private static let maximumLength = 512

    /// Creates a signature; `r` and `s` must have 32 bytes each, which is not checked.
    package init(publicKey: SSHPublicKey, namespace: SignatureNamespace, r: [UInt8], s: [UInt8]) {
        self.publicKey = publicKey
        self.namespace = namespace.bytes
        self.r = r
        self.s = s
    }

    /// Returns the data that the key signs for a message with this SHA-256 digest of 32 bytes.
    package static func signedData(namespace: [UInt8], messageDigest: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.put(raw: magic.bytes)
        writer.put(namespace)
        writer.put([])
        writer.put(hash.bytes)
        writer.put(messageDigest)
        return writer.bytes
    }

    /// The binary encoding, which `Armour` wraps for files.
    package var blob: [UInt8] {
        var numbers = SSHWriter()
        numbers.put(unsigned: r)
        numbers.put(unsigned: s)
        var signature = SSHWriter()
        signature.put(SSHPublicKey.algorithm.bytes)
        signature.put(numbers.bytes)
        var writer = SSHWriter()
        writer.put(raw: SSHSignature.magic.bytes)
        writer.put(number: SSHSignature.version)
        writer.put(publicKey.blob)
        writer.put(namespace)
        writer.put([])
        writer.put(SSHSignature.hash.bytes)
        writer.put(signature.bytes)
        return writer.bytes
    }

    /// Parses the binary encoding; throws unless it is exactly one signature of the accepted kind.
    ///
    /// The reserved field must be empty. Numbers must be positive, in their shortest form and of at
    /// most 32 bytes. Throws `.unsupported` for another version, algorithm, curve or hash, and
    /// another `SSHFault` for bytes that deviate from the format.
    package init(blob: [UInt8]) throws(SSHFault) {
        guard blob.count <= SSHSignature.maximumLength else { throw .tooLong }
        var reader = SSHReader(blob)
        guard try reader.isNext(raw: SSHSignature.magic) else { throw .malformed }
        guard try reader.number() == SSHSignature.version else { throw .unsupported }
        publicKey = try SSHPublicKey(reading: try reader.inside(cap: 256))
        namespace = try reader.string(cap: 64)
        guard try reader.string(cap: 0) == [] else { throw .malformed }
        guard try reader.isNext(SSHSignature.hash, cap: 16) else { throw .unsupported }
        var signature = try reader.inside(cap: 256)
        try reader.end()
        guard try signature.isNext(SSHPublicKey.algorithm, cap: 32) else { throw .unsupported }
        var numbers = try signature.inside(cap: 80)
        try signature.end()
        r = try numbers.unsigned(count: 32)
        s = try numbers.unsigned(count: 32)
        try numbers.end()
    }
}
