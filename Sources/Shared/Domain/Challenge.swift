// SPDX-License-Identifier: Apache-2.0

/// A challenge: 32 random bytes that a relying party draws for one signature.
///
/// The issuer accepts a statement only if it names this challenge, and only once. A challenge
/// is not secret.
package struct Challenge: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 32 }
    /// The bytes, 32 of them.
    package let bytes: [UInt8]

    /// Wraps bytes; nil unless there are 32 of them.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}
