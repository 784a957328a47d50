// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// Names for requests that tell nothing: neither how many there were nor which was before another.
///
/// 64 random bits each, so that no two are the same, most likely; many are drawn at once.
final class RequestNumbers: Sendable {
    private static let drawn = 4_096
    /// Digits of five bits that no one takes for another; Crockford's, in lower case.
    private static let digits = [UInt8]("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private let random = Mutex<[UInt8]>([])

    /// The next one, 13 digits.
    func next() -> String {
        var bits: UInt64 = 0
        random.withLock { random in
            if random.isEmpty { random = (try? randomBytes(Self.drawn)) ?? [] }
            for byte in random.suffix(8) { bits = bits << 8 | UInt64(byte) }
            random.removeLast(min(8, random.count))
        }
        // As short as this a text needs no memory of its own.
        return unsafe String(unsafeUninitializedCapacity: 13) { text in
            for place in 0..<13 {
                unsafe text[place] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return 13
        }
    }
}
