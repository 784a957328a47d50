// SPDX-License-Identifier: Apache-2.0
import Crypto
import ServerAPI
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

/// The fingerprint that a person has compared with the one that the device shows.
struct CommitRequest: Decodable {
    /// In the form of `ssh-keygen -l`: `SHA256:…`.
    let fingerprint: String
}

/// The registrations of an account.
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
