// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Testing

/// Reads hexadecimal digits; spaces and newlines between them are left out.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap { $0.hexDigitValue }
    return stride(from: 0, to: digits.count - 1, by: 2).map {
        UInt8(digits[$0] * 16 + digits[$0 + 1])
    }
}

/// Puts known bytes into secret memory.
func secret(_ bytes: [UInt8]) throws -> SecretBytes {
    var copy = bytes
    return try SecretBytes(moving: &copy)
}

/// What a secret holds.
func revealed(_ secret: SecretBytes) -> [UInt8] {
    secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe Array($0) } }
}
