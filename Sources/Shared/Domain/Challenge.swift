// SPDX-License-Identifier: Apache-2.0

/// A challenge: 32 random bytes that a relying party draws for one signature.
///
/// Whoever issued it accepts a statement only if it names this challenge, and only once. A challenge
/// is not secret.
package struct Challenge: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 32 }
    /// The bytes, 32 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}
