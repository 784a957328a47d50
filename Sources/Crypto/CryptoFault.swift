// SPDX-License-Identifier: Apache-2.0
/// Why a cryptographic operation gave no result.
package enum CryptoFault: Error, Equatable, Sendable {
    /// The library could not be initialised, is out of memory, or failed without a reason of ours.
    case library(operation: String)
    /// Secret memory could not be had; mmap(2), mlock(2).
    case memory
    /// An argument has a length that the algorithm does not take.
    case length
    /// The tag does not fit: another key, nonce, additional data, or altered bytes.
    case notAuthentic
    /// The bytes are no P-256 private key in the form that is written here.
    case badPrivateKey
    /// The bytes are no point of P-256, or the point at infinity.
    case badPublicKey
}

extension CryptoFault: CustomStringConvertible {
    /// One line without a full stop.
    package var description: String {
        switch self {
        case .library(let operation): "\(operation) failed in libcrypto"
        case .memory: "no memory that can be locked"
        case .length: "an argument has the wrong length"
        case .notAuthentic: "the sealed bytes are not authentic"
        case .badPrivateKey: "not a P-256 private key"
        case .badPublicKey: "not a P-256 public key"
        }
    }
}
