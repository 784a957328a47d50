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

    /// Parses a key blob or a host certificate; throws an `SSHFault` unless it is exactly one, and
    /// `.unsupported` for any other type.
    package init(blob: [UInt8]) throws(SSHFault) {
        plain = try SSHNamedKey(blob: blob, certifiedAs: .host).plain
    }
}
