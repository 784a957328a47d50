// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A stream of numbers that is the same on every machine for the same seed (SplitMix64).
///
/// Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators (2014).
package struct SeededNumbers {
    private var state: UInt64

    /// A stream that depends on nothing but the seed.
    package init(seed: UInt64) {
        state = seed
    }

    /// A stream of its own for one purpose of one seed: streams of other purposes do not move it.
    package init(seed: UInt64, purpose: UInt64) {
        var mixer = SeededNumbers(seed: seed)
        state = mixer.next() ^ (purpose &* 0xd134_2543_de82_ef95)
        _ = next()
    }

    /// The next 64 uniform bits.
    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A uniform number in [0, 1), with 24 bits.
    package mutating func unit() -> Float {
        Float(next() >> 40) * (1 / 16_777_216)
    }

    /// A uniform number in the range.
    package mutating func uniform(_ range: ClosedRange<Float>) -> Float {
        range.lowerBound + unit() * (range.upperBound - range.lowerBound)
    }

    /// A uniform number within `limit` of zero.
    package mutating func around(_ limit: Float) -> Float {
        (2 * unit() - 1) * limit
    }

    /// A nearly normal number, mean 0 and deviation 1, within ±3.5 (a sum of four uniforms).
    package mutating func normal() -> Float {
        let bits = next()
        let parts = SIMD4<UInt16>(
            UInt16(truncatingIfNeeded: bits), UInt16(truncatingIfNeeded: bits >> 16),
            UInt16(truncatingIfNeeded: bits >> 32), UInt16(truncatingIfNeeded: bits >> 48))
        let sum = (SIMD4<Float>(parts) * (1 / 65_536)).sum()
        return (sum - 2) * Float(3).squareRoot()
    }
}
