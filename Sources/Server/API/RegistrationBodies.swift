// SPDX-License-Identifier: Apache-2.0
import Crypto
import SignedFormats

/// What is sent for an activation code.
struct ActivationRequest: Decodable {
    let account: Name
    /// Seconds.
    let expiresIn: Int64?
}

/// An activation code, told once.
struct ActivationAnswer: Encodable, Sendable {
    let code: String
    let account: String
    let application: String
    let expires: Int64
}

/// What a device sends to begin a registration.
struct RegistrationRequest: Decodable {
    /// As a person typed it.
    let code: String
    let device: ID
}

/// What a device needs to prove its new key.
struct RegistrationBegun: Encodable, Sendable {
    let registration: ID
    let account: String
    let application: String
    let audience: String
    let challenge: Binary
    let expires: Int64
}

/// The new key, and the challenge signed with it in the namespace `registration@signet`.
struct RegistrationProof: Decodable {
    /// The uncompressed point, 65 bytes.
    let publicKey: Binary
    let statement: Binary
    let signature: Binary
}

/// What a person compared.
struct CommitRequest: Decodable {
    /// As `ssh-keygen -l` shows it: `SHA256:…`.
    let fingerprint: String
}

/// A registration as callers see it.
struct RegistrationState: Encodable, Sendable {
    let registration: ID
    let account: String
    let device: ID
    let status: RegistrationStatus
    /// Why it is BLOCKED or REMOVED.
    let reason: String?
    /// The key's, as `ssh-keygen -l` shows it; none before it was proven.
    let fingerprint: String?
    let key: String?
    let secureBoot: String?
    let flags: [String]
    let failures: Int64
    let created: Int64
    let lastUsed: Int64?
}

/// All registrations of an account.
struct RegistrationList: Encodable, Sendable {
    let registrations: [RegistrationState]
}

/// A public key's fingerprint as `ssh-keygen -l` shows it: SHA-256 of the key's blob.
func keyFingerprint(_ point: [UInt8]) -> String? {
    guard let key = SSHPublicKey(point: point),
        let digest = try? SHA256.digest(key.blob)
    else { return nil }
    let text = String(decoding: Base64.encode(digest, .standard), as: UTF8.self)
    return "SHA256:" + text.prefix { $0 != "=" }
}
