// SPDX-License-Identifier: Apache-2.0
import Domain

/// What an ssh key on a security key is for: `ssh:`, or `ssh:` and a word of the user's.
///
/// It is part of the public key and of everything that the key signs. Others than those of ssh are
/// never accepted, so that no key of Signet signs for the web.
package struct SSHApplication: Equatable, Sendable {
    /// The application of a key for which none is named; `ssh-keygen` uses it as well.
    package static var standard: SSHApplication { SSHApplication(trusted: prefix.bytes) }
    /// The maximum length in bytes.
    package static let longest = 128
    private static let prefix: StaticString = "ssh:"
    /// What a key for `signet-agent` is sealed to in the place of an application.
    ///
    /// No text that a client can name parses to it, because of the space: such a key signs for no
    /// application, and one of an application not as an agent's.
    package static var agent: SSHApplication {
        SSHApplication(trusted: StaticString("ssh agent").bytes)
    }

    /// The text: visible ASCII without spaces.
    package let bytes: [UInt8]

    /// Wraps a text; nil unless it begins with `ssh:`, has at most 128 bytes, and consists of
    /// visible ASCII.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest, bytes.starts(with: Self.prefix.bytes) else { return nil }
        for byte in bytes where byte <= 0x20 || byte >= 0x7F { return nil }
        self.bytes = bytes
    }

    private init(trusted bytes: [UInt8]) { self.bytes = bytes }

    /// What follows `ssh:`; empty for the standard application.
    package var word: [UInt8] { [UInt8](bytes.dropFirst(Self.prefix.utf8CodeUnitCount)) }
}

/// The public key of an ssh key on a security key, in OpenSSH's formats; PROTOCOL.u2f.
///
/// Only `sk-ecdsa-sha2-nistp256@openssh.com` exists here, in its only encoding.
package struct SSHSecurityKey: Equatable, Sendable {
    /// The key's algorithm, which is also the only one that signs with it.
    package static let algorithm: StaticString = "sk-ecdsa-sha2-nistp256@openssh.com"

    /// The flags of a signature: user presence and user verification.
    ///
    /// Both are true of a finger that has matched for the signature.
    package static let flags: UInt8 = 0x05
    /// The flags of a signature that a grant covers: user presence alone.
    ///
    /// The finger matched for the grant, a minute ago at most, and not for this signature.
    package static let presenceFlags: UInt8 = 0x01

    /// The P-256 key.
    package let key: SSHPublicKey
    /// What the key is for.
    package let application: SSHApplication

    /// Creates a key.
    package init(key: SSHPublicKey, application: SSHApplication) {
        self.key = key
        self.application = application
    }

    /// The key blob: the names of algorithm and curve, the point and the application, each preceded
    /// by its length.
    package var blob: [UInt8] {
        var writer = SSHWriter()
        writer.put(Self.algorithm.bytes)
        writer.put(StaticString("nistp256").bytes)
        writer.put(key.point.bytes)
        writer.put(application.bytes)
        return writer.bytes
    }

    /// The line of a key file, `sk-ecdsa-sha2-nistp256@openssh.com AAAA… comment`, without LF.
    package func line(comment: [UInt8]) -> [UInt8] {
        let key =
            Self.algorithm.bytes + [UInt8(ascii: " ")] + Base64.encode(blob, alphabet: .standard)
        return comment.isEmpty ? key : key + [UInt8(ascii: " ")] + comment
    }

    /// Returns what the key signs: the SHA-256 of the application, the flags, the counter in
    /// big-endian order, and the SHA-256 of the message.
    ///
    /// Both digests have 32 bytes, which is not checked.
    package static func signedData(
        applicationDigest: [UInt8], flags: UInt8 = flags, counter: UInt32,
        messageDigest: [UInt8]
    ) -> [UInt8] {
        var writer = SSHWriter()
        writer.put(raw: applicationDigest)
        writer.put(raw: [flags])
        writer.put(number: counter)
        writer.put(raw: messageDigest)
        return writer.bytes
    }
}
