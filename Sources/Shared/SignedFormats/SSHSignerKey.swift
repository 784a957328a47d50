// SPDX-License-Identifier: Apache-2.0

/// The public key of one of Signet's ssh keys, of which there are two kinds.
///
/// The kind decides what the private key signs, and a key never changes it: a security key signs its
/// application, flags and counter with the digest of the data, an agent's key the data themselves.
package enum SSHSignerKey: Equatable, Sendable {
    /// A key that OpenSSH uses as one on a security key.
    case securityKey(SSHSecurityKey)
    /// A plain key, which `signet-agent` offers.
    case agent(SSHPublicKey)

    /// The key of a kind that is told by the application; `SSHApplication.agent` makes an agent's.
    package init(key: SSHPublicKey, application: SSHApplication) {
        self =
            application == .agent
            ? .agent(key) : .securityKey(SSHSecurityKey(key: key, application: application))
    }

    /// The P-256 key.
    package var key: SSHPublicKey {
        switch self {
        case .securityKey(let key): key.key
        case .agent(let key): key
        }
    }

    /// What the key is for.
    package var application: SSHApplication {
        switch self {
        case .securityKey(let key): key.application
        case .agent: .agent
        }
    }

    /// The only algorithm that signs with the key.
    package var algorithm: StaticString {
        switch self {
        case .securityKey: SSHSecurityKey.algorithm
        case .agent: SSHPublicKey.algorithm
        }
    }

    /// The key blob.
    package var blob: [UInt8] {
        switch self {
        case .securityKey(let key): key.blob
        case .agent(let key): key.blob
        }
    }
}
