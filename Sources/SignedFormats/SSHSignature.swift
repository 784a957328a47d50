// SPDX-License-Identifier: Apache-2.0
/// What a signature is for: a signature for one use is never good for another.
package enum SignatureNamespace: CaseIterable, Sendable {
    case login
    case secret
    case request
    case operation
    case file
    case registration
    case verdict
    case challenge

    /// As it stands in the signature.
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
        }
    }
}

/// An OpenSSH signature (PROTOCOL.sshsig) by a P-256 key over a SHA-256 digest.
package struct SSHSignature: Equatable, Sendable {
    /// Who signed.
    package let publicKey: SSHPublicKey
    /// What for.
    package let namespace: [UInt8]
    /// The signature's two numbers, 32 bytes each, big endian.
    package let r: [UInt8]
    /// See `r`.
    package let s: [UInt8]

    private static let magic: StaticString = "SSHSIG"
    private static let hash: StaticString = "sha256"
    private static let version: UInt32 = 1
    private static let maximumLength = 512

    /// From its parts; `r` and `s` are 32 bytes each.
    package init(publicKey: SSHPublicKey, namespace: SignatureNamespace, r: [UInt8], s: [UInt8]) {
        self.publicKey = publicKey
        self.namespace = namespace.bytes
        self.r = r
        self.s = s
    }

    /// The bytes that the key signs, given the message's SHA-256 digest (32 bytes).
    package static func signedData(namespace: [UInt8], messageDigest: [UInt8]) -> [UInt8] {
        var writer = SSHWriter()
        writer.put(raw: magic.bytes)
        writer.put(namespace)
        writer.put([])
        writer.put(hash.bytes)
        writer.put(messageDigest)
        return writer.bytes
    }

    /// The binary form that the armour wraps.
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

    /// From the binary form; throws unless it is exactly one signature of the accepted kind.
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
