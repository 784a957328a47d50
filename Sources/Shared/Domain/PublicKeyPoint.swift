// SPDX-License-Identifier: Apache-2.0

/// A public key of P-256 as it travels: the uncompressed point, 0x04, x and y.
///
/// Only the length is checked. `SSHPublicKey` has the right first byte too, and `P256PublicKey` is
/// a point on the curve.
package struct PublicKeyPoint: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 65 }
    /// The bytes, 65 of them.
    package let bytes: [UInt8]

    /// Wraps bytes; nil unless there are 65 of them.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}
