// SPDX-License-Identifier: Apache-2.0
/// The reason why a cryptographic operation failed.
package enum CryptoFault: Error, Equatable, Sendable {
    /// The library could not be initialised, is out of memory, or failed for another internal
    /// reason.
    case library(operation: String)
    /// No memory could be allocated and locked; mmap(2), mlock(2).
    case memory
    /// An argument has a length that the algorithm does not accept.
    case length
    /// The tag is invalid: the key, nonce, additional data or ciphertext is not the one that was
    /// sealed.
    case notAuthentic
    /// The bytes are not a P-256 private key in the one form that this module writes.
    case badPrivateKey
    /// The bytes are not a point of P-256, or are the point at infinity.
    case badPublicKey
    /// The bytes are not a certificate, or one with a key of another kind than was asked for.
    case badCertificate
}

extension CryptoFault: CustomStringConvertible {
    /// A message of one line without a full stop.
    package var description: String {
        switch self {
        case .library(let operation): "\(operation) failed in libcrypto"
        case .memory: "no memory could be locked"
        case .length: "an argument has the wrong length"
        case .notAuthentic: "the sealed bytes are not authentic"
        case .badPrivateKey: "not a P-256 private key"
        case .badPublicKey: "not a P-256 public key"
        case .badCertificate: "not a certificate with a key that can be used"
        }
    }
}
