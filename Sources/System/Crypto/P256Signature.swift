// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// An ECDSA signature on P-256: r and s, 32 bytes each, big-endian.
///
/// The numbers are not checked to be in range; verification rejects those that are not.
package struct P256Signature: Equatable, Sendable {
    /// The first integer.
    package let r: [UInt8]
    /// The second integer.
    package let s: [UInt8]

    /// Creates a signature; nil unless both numbers have 32 bytes.
    package init?(r: [UInt8], s: [UInt8]) {
        guard r.count == 32, s.count == 32 else { return nil }
        self.r = r
        self.s = s
    }

    /// Parses an ECDSA-Sig-Value that OpenSSL has made; RFC 3279 section 2.2.3, d2i_ECDSA_SIG(3).
    init(der: ArraySlice<UInt8>) throws(CryptoFault) {
        var r = [UInt8](repeating: 0, count: 32)
        var s = [UInt8](repeating: 0, count: 32)
        let read = unsafe der.withUnsafeBytes { buffer in
            var cursor = unsafe buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)
            guard let pair = unsafe d2i_ECDSA_SIG(nil, &cursor, buffer.count) else { return false }
            defer { unsafe ECDSA_SIG_free(pair) }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(pair), &r, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(pair), &s, 32) == 32
        }
        guard read else {
            ERR_clear_error()
            throw .library(operation: "d2i_ECDSA_SIG")
        }
        self.r = r
        self.s = s
    }

    /// The signature as an ECDSA-Sig-Value: a SEQUENCE of two INTEGERs, at most 72 bytes.
    package var der: [UInt8] {
        var der: [UInt8] = []
        der.reserveCapacity(72)
        der.append(0x30)
        der.append(0)
        P256Signature.put(r, in: &der)
        P256Signature.put(s, in: &der)
        der[1] = UInt8(der.count - 2)
        return der
    }

    /// Appends a DER INTEGER without leading zeros, except for one if the number would otherwise be
    /// negative or empty.
    private static func put(_ number: [UInt8], in der: inout [UInt8]) {
        let digits = number.drop { $0 == 0 }
        let isPadded = digits.first.map { $0 >= 0x80 } ?? true
        der.append(0x02)
        der.append(UInt8(digits.count + (isPadded ? 1 : 0)))
        if isPadded { der.append(0) }
        der.append(contentsOf: digits)
    }
}
