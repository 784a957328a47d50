// SPDX-License-Identifier: Apache-2.0

/// A key as a host or a user names it in ssh: its blob, or a certificate for it.
///
/// Only well-formed keys of the types below are accepted. What a certificate grants, and who has signed
/// it, is the other side's to judge: here it only says which key is meant.
struct SSHNamedKey {
    /// Whom a certificate is for; PROTOCOL.certkeys.
    enum Use: UInt32 {
        case user = 1
        case host = 2
    }

    /// The key blob; that of the key itself for a certificate.
    let plain: [UInt8]
    /// The key's algorithm.
    let type: StaticString
    /// The algorithm of the blob: the key's, or that of certificates for such keys.
    let algorithm: StaticString

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

    /// Parses a key blob or a certificate for this use; throws an `SSHFault` unless it is exactly
    /// one, and `.unsupported` for any other type.
    init(blob: [UInt8], certifiedAs use: Use) throws(SSHFault) {
        guard blob.count <= SSHHostKey.longest else { throw .tooLong }
        var reader = SSHReader(blob)
        let name = try reader.string(cap: 64)
        for kind in Self.kinds {
            if kind.name.isSpelled(by: name[...]) {
                plain = try Self.key(kind, from: &reader)
                (type, algorithm) = (kind.name, kind.name)
                try reader.end()
                return
            }
            if kind.certificate.isSpelled(by: name[...]) {
                _ = try reader.string(cap: 64)
                plain = try Self.key(kind, from: &reader)
                (type, algorithm) = (kind.name, kind.certificate)
                try Self.skipCertificate(&reader, for: use)
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
            let field = try reader.string(cap: SSHHostKey.longest)
            guard !field.isEmpty else { throw .malformed }
            writer.put(field)
        }
        return writer.bytes
    }

    /// Reads what follows the key in a certificate, up to its end; PROTOCOL.certkeys.
    private static func skipCertificate(
        _ reader: inout SSHReader, for use: Use
    ) throws(SSHFault) {
        try reader.skipped(8)
        guard try reader.number() == use.rawValue else { throw .unsupported }
        for _ in 0..<2 { _ = try reader.string(cap: SSHHostKey.longest) }
        try reader.skipped(16)
        for _ in 0..<5 { _ = try reader.string(cap: SSHHostKey.longest) }
        try reader.end()
    }
}
