// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SignedFormats

/// The request for an activation code.
struct ActivationRequest: Decodable {
    let account: Name
    /// The code's validity in seconds, 30 to 86,400; 600 if absent.
    let expiresIn: Int64?
}

/// A new activation code; the code is returned only here.
struct ActivationAnswer: Encodable, Sendable {
    let code: String
    let account: String
    let application: String
    let expires: Int64
}

/// A device's request to begin a registration.
struct RegistrationRequest: Decodable {
    /// The activation code as a person typed it.
    let code: String
    let device: DeviceID
}

/// The challenge that a device's new key must sign, with the names to sign.
struct RegistrationBegun: Encodable, Sendable {
    let registration: RegistrationID
    let account: String
    let application: String
    let audience: String
    let challenge: Challenge
    let expires: Int64
}

/// A device's new key, and the statement that it has signed.
///
/// The signature is an SSHSIG blob in the namespace `registration@signet`.
struct RegistrationProof: Decodable {
    /// The uncompressed point, 65 bytes.
    let publicKey: Binary
    let statement: Binary
    let signature: Binary
}

/// The fingerprint that a person has compared with the one that the device shows.
struct CommitRequest: Decodable {
    /// In the form of `ssh-keygen -l`: `SHA256:…`.
    let fingerprint: String
}

/// A registration, as reported to its application and to its device.
struct RegistrationState: Encodable, Sendable {
    let registration: RegistrationID
    let account: String
    let device: DeviceID
    let status: RegistrationStatus
    /// Why it is BLOCKED or REMOVED (`RemovalReason`, or `failures`); nil otherwise.
    let reason: String?
    /// The key's fingerprint in the form of `ssh-keygen -l`; nil before the key is proven.
    let fingerprint: String?
    let key: String?
    let secureBoot: String?
    let flags: [String]
    let failures: Int64
    let created: Int64
    let lastUsed: Int64?
}

struct RegistrationList: Encodable, Sendable {
    let registrations: [RegistrationState]
}

/// A public key's fingerprint in the form of `ssh-keygen -l`; nil if the point is not valid.
///
/// It is the SHA-256 of the SSH key blob, in base64 without padding. `point` is the uncompressed
/// point of 65 bytes.
func keyFingerprint(_ point: [UInt8]) -> String? {
    guard let key = SSHPublicKey(point: point),
        let digest = try? SHA256.digest(key.blob)
    else { return nil }
    let text = String(decoding: Base64.encode(digest, alphabet: .standard), as: UTF8.self)
    return "SHA256:" + text.prefix { $0 != "=" }
}
