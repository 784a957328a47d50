// SPDX-License-Identifier: Apache-2.0

/// The host key of a server, as it stands in what an ssh client signs.
///
/// Only well-formed keys of the types below are accepted, and certificates of hosts for them. The
/// numbers in them are not checked: the client has verified the server's signature, and this key is
/// only shown.
package struct SSHHostKey: Equatable, Sendable {
    /// The maximum length of a key or certificate in bytes.
    package static let longest = 8_192

    /// The key blob; that of the key itself if the server has shown a certificate.
    ///
    /// Its SHA-256 is the fingerprint that `ssh-keygen -l` and ssh show.
    package let plain: [UInt8]

    /// A type of key: its name, that of its certificates, and the number of strings in a key.
    private struct Kind {
        let name: StaticString
        let certificate: StaticString
        let fields: Int
    }

    private static var kinds: [Kind] {
        [
            Kind(
                name: "ssh-ed25519", certificate: "ssh-ed25519-cert-v01@openssh.com", fields: 1),
            Kind(
                name: "ecdsa-sha2-nistp256",
                certificate: "ecdsa-sha2-nistp256-cert-v01@openssh.com", fields: 2),
            Kind(
                name: "ecdsa-sha2-nistp384",
                certificate: "ecdsa-sha2-nistp384-cert-v01@openssh.com", fields: 2),
            Kind(
                name: "ecdsa-sha2-nistp521",
                certificate: "ecdsa-sha2-nistp521-cert-v01@openssh.com", fields: 2),
            Kind(name: "ssh-rsa", certificate: "ssh-rsa-cert-v01@openssh.com", fields: 2),
            Kind(
                name: "sk-ssh-ed25519@openssh.com",
                certificate: "sk-ssh-ed25519-cert-v01@openssh.com", fields: 2),
            Kind(
                name: "sk-ecdsa-sha2-nistp256@openssh.com",
                certificate: "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", fields: 3),
        ]
    }

    private static let hostCertificate: UInt32 = 2

    /// Parses a key blob or a host certificate; throws an `SSHFault` unless it is exactly one, and
    /// `.unsupported` for any other type.
    package init(blob: [UInt8]) throws(SSHFault) {
        guard blob.count <= Self.longest else { throw .tooLong }
        var reader = SSHReader(blob)
        let name = try reader.string(cap: 64)
        for kind in Self.kinds {
            if kind.name.isSpelled(by: name[...]) {
                plain = try Self.key(kind, from: &reader)
                try reader.end()
                return
            }
            if kind.certificate.isSpelled(by: name[...]) {
                _ = try reader.string(cap: 64)
                plain = try Self.key(kind, from: &reader)
                try Self.skipCertificate(&reader)
                return
            }
        }
        throw .unsupported
    }

    /// Reads the strings of a key, and returns its blob.
    private static func key(
        _ kind: Kind, from reader: inout SSHReader
    ) throws(SSHFault) -> [UInt8] {
        var writer = SSHWriter()
        writer.put(kind.name.bytes)
        for _ in 0..<kind.fields {
            let field = try reader.string(cap: longest)
            guard !field.isEmpty else { throw .malformed }
            writer.put(field)
        }
        return writer.bytes
    }

    /// Reads what follows the key in a certificate, up to its end; PROTOCOL.certkeys.
    private static func skipCertificate(_ reader: inout SSHReader) throws(SSHFault) {
        try reader.skipped(8)
        guard try reader.number() == hostCertificate else { throw .unsupported }
        for _ in 0..<2 { _ = try reader.string(cap: longest) }
        try reader.skipped(16)
        for _ in 0..<5 { _ = try reader.string(cap: longest) }
        try reader.end()
    }
}
