// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// Generates request ids that reveal neither the number nor the order of requests.
///
/// An id has 64 random bits, so duplicates are very unlikely. Random bytes are drawn in bulk. If
/// the kernel provides none, ids repeat, but requests are still served.
final class RequestNumbers: Sendable {
    private static let drawn = 4_096
    /// Crockford's base 32 digits in lower case, which are not easily confused with each other.
    private static let digits = [UInt8]("0123456789abcdefghjkmnpqrstvwxyz".utf8)
    private let random = Mutex<[UInt8]>([])

    /// The next id: 13 digits.
    func next() -> String {
        var bits: UInt64 = 0
        random.withLock { random in
            if random.isEmpty { random = (try? randomBytes(Self.drawn)) ?? [] }
            for byte in random.suffix(8) { bits = bits << 8 | UInt64(byte) }
            random.removeLast(min(8, random.count))
        }
        // A string of up to 15 bytes needs no allocation.
        return unsafe String(unsafeUninitializedCapacity: 13) { text in
            for place in 0..<13 {
                unsafe text[place] = Self.digits[Int(bits & 31)]
                bits >>= 5
            }
            return 13
        }
    }
}
