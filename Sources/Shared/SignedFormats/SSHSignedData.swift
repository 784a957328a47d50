// SPDX-License-Identifier: Apache-2.0

/// What an ssh key is asked to sign, as far as its form goes: a login at a server, or a file.
///
/// These are the only two forms that are accepted. Every field is named and bounded, nothing is
/// left over, and what is shown to the user contains neither spaces nor control characters, so that
/// it cannot pass for more than one word of the text around it.
package enum SSHSignedData: Equatable, Sendable {
    /// A user authentication request; RFC 4252, section 7.
    case authentication(SSHAuthentication)
    /// The data of an SSHSIG signature; PROTOCOL.sshsig.
    case signature(SSHFileSignature)

    /// The maximum length in bytes.
    package static let longest = 12_288

    /// Parses the data; throws an `SSHFault` unless they have exactly one of the two forms, a request
    /// with this algorithm.
    ///
    /// No data have both: a request's first bytes are the length of a session id, and the magic of
    /// SSHSIG would be a length of 1.4 GB.
    package init(
        parsing data: [UInt8], algorithm: StaticString
    ) throws(SSHFault) {
        guard data.count <= Self.longest else { throw .tooLong }
        if data.starts(with: SSHFileSignature.magic.bytes) {
            self = .signature(try SSHFileSignature(parsing: data))
        } else {
            self = .authentication(
                try SSHAuthentication(parsing: data, algorithm: algorithm))
        }
    }

    /// What is signed, in words: `ssh alice (host key SHA256:…)`, or `ssh signature: namespace git`.
    ///
    /// - Parameter fingerprint: makes the fingerprint of a key blob.
    package func purpose(fingerprint: ([UInt8]) -> [UInt8]) -> [UInt8] {
        switch self {
        case .authentication(let request):
            let user = StaticString("ssh ").bytes + request.user
            guard let host = request.hostKey else {
                return user + StaticString(" (host key not stated)").bytes
            }
            return user + StaticString(" (host key ").bytes + fingerprint(host.plain)
                + StaticString(")").bytes
        case .signature(let signature):
            return StaticString("ssh signature: namespace ").bytes + signature.namespace
        }
    }
}

/// A user authentication request by public key, together with the session that it is for.
package struct SSHAuthentication: Equatable, Sendable {
    /// The id of the session that the request belongs to.
    package let sessionID: [UInt8]
    /// The name of the user at the server.
    package let user: [UInt8]
    /// The blob of the key that the request names as the signer; that of the key itself if the request
    /// states a certificate for it.
    package let keyBlob: [UInt8]
    /// The server's host key; nil if the client does not bind the request to it.
    package let hostKey: SSHHostKey?

    private static let message: UInt8 = 50
    private static let longestUser = 255

    /// Parses a request; only the service `ssh-connection`, the two methods for public keys, a
    /// request that carries a signature, and this algorithm or that of its certificates are accepted.
    init(parsing data: [UInt8], algorithm: StaticString) throws(SSHFault) {
        var reader = SSHReader(data)
        // The hash of a key exchange: SHA-1, SHA-256, SHA-384 or SHA-512.
        sessionID = try reader.string(cap: 64)
        switch sessionID.count {
        case 20, 32, 48, 64: break
        default: throw .malformed
        }
        guard try reader.byte() == Self.message else { throw .unsupported }
        user = try reader.string(cap: Self.longestUser)
        guard user.isOneVisibleWord else { throw .malformed }
        guard try reader.isNext("ssh-connection", cap: 64) else { throw .unsupported }
        let method = try reader.string(cap: 64)
        let isBound =
            StaticString("publickey-hostbound-v00@openssh.com").isSpelled(by: method[...])
        guard isBound || StaticString("publickey").isSpelled(by: method[...]) else {
            throw .unsupported
        }
        // FALSE asks whether the key would be accepted; such a request is not signed.
        guard try reader.byte() == 1 else { throw .unsupported }
        let stated = try reader.string(cap: 64)
        let blob = try reader.string(cap: SSHHostKey.longest)
        keyBlob = try Self.plainKey(blob, stated: stated, algorithm: algorithm)
        hostKey =
            isBound ? try SSHHostKey(blob: try reader.string(cap: SSHHostKey.longest)) : nil
        try reader.end()
    }

    /// The blob of the key that a request names, with this algorithm or by a certificate for it.
    ///
    /// Throws `.unsupported` for any other algorithm, and for a blob of another than the one stated.
    private static func plainKey(
        _ blob: [UInt8], stated: [UInt8], algorithm: StaticString
    ) throws(SSHFault) -> [UInt8] {
        if algorithm.isSpelled(by: stated[...]) { return blob }
        let named = try SSHNamedKey(blob: blob, certifiedAs: .user)
        guard named.algorithm.isSpelled(by: stated[...]), named.type.bytes == algorithm.bytes else {
            throw .unsupported
        }
        return named.plain
    }
}

/// The data that SSHSIG signs for a message, of which only the digest is known.
package struct SSHFileSignature: Equatable, Sendable {
    static let magic: StaticString = "SSHSIG"
    private static let longestNamespace = 128

    /// The namespace: what the signature is for, for example `git` or `file`.
    package let namespace: [UInt8]

    /// Parses the data; the reserved field must be empty, and the digest be as long as its
    /// algorithm says.
    ///
    /// Signet's own namespaces are refused: what is signed in them is composed by signetd.
    init(parsing data: [UInt8]) throws(SSHFault) {
        var reader = SSHReader(data)
        guard try reader.isNext(raw: Self.magic) else { throw .malformed }
        namespace = try reader.string(cap: Self.longestNamespace)
        guard namespace.isOneVisibleWord else { throw .malformed }
        guard !namespace.ends(with: "@signet") else { throw .unsupported }
        guard try reader.string(cap: 0).isEmpty else { throw .malformed }
        let hash = try reader.string(cap: 16)
        let length: Int
        if StaticString("sha512").isSpelled(by: hash[...]) {
            length = 64
        } else if StaticString("sha256").isSpelled(by: hash[...]) {
            length = 32
        } else {
            throw .unsupported
        }
        guard try reader.string(cap: length).count == length else { throw .malformed }
        try reader.end()
    }
}

/// Data that one key may sign: they have one of the accepted forms, and name no other key.
///
/// Making one is the only way to a signature by an ssh key.
package struct SSHSignable: Sendable {
    /// Why data are not signed.
    package enum Fault: Error, Equatable {
        /// They have neither form.
        case form(SSHFault)
        /// The request names another key as its signer.
        case otherKey
    }

    /// The data, byte for byte.
    package let data: [UInt8]
    /// What they are.
    package let content: SSHSignedData
    /// The key that may sign them.
    package let key: SSHSignerKey

    /// Checks data that `key` is asked to sign.
    package init(_ data: [UInt8], by key: SSHSignerKey) throws(Fault) {
        do throws(SSHFault) {
            content = try SSHSignedData(parsing: data, algorithm: key.algorithm)
        } catch { throw .form(error) }
        if case .authentication(let request) = content, request.keyBlob != key.blob {
            throw .otherKey
        }
        self.data = data
        self.key = key
    }
}

extension [UInt8] {
    /// Whether there is something, without spaces and control characters.
    fileprivate var isOneVisibleWord: Bool {
        for byte in self where byte <= 0x20 || byte == 0x7F { return false }
        return !isEmpty
    }

    fileprivate func ends(with text: StaticString) -> Bool {
        text.isSpelled(by: suffix(text.utf8CodeUnitCount))
    }
}
