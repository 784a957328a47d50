import COpenSSL

/// An ECDSA signature on P-256: r and s, each 32 bytes, big-endian.
package struct P256Signature: Equatable, Sendable {
    /// The first number.
    package let r: [UInt8]
    /// The second number.
    package let s: [UInt8]

    /// Nil unless both have 32 bytes.
    package init?(r: [UInt8], s: [UInt8]) {
        guard r.count == 32, s.count == 32 else { return nil }
        self.r = r
        self.s = s
    }

    /// Reads an ECDSA-Sig-Value; RFC 3279 section 2.2.3, d2i_ECDSA_SIG(3).
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

    /// Writes an ECDSA-Sig-Value: a SEQUENCE of two INTEGERs, at most 72 bytes.
    var der: [UInt8] {
        let body = P256Signature.integer(r) + P256Signature.integer(s)
        return [0x30, UInt8(body.count)] + body
    }

    /// A DER INTEGER: no leading zeros, but one where the number would look negative.
    private static func integer(_ number: [UInt8]) -> [UInt8] {
        var digits = Array(number.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }
}
