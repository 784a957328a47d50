// SPDX-License-Identifier: Apache-2.0
extension [UInt8] {
    /// Splits the bytes at each separator; empty parts are included, so there is at least one part.
    ///
    /// With `most`, at most that many parts are returned, and the last one contains the unsplit
    /// rest. `split` is not used because it would add five times as much code to the PAM module.
    @inline(never)
    package func parts(between separator: UInt8, most: Int = .max) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var part: [UInt8] = []
        for byte in self {
            if byte == separator, parts.count + 1 < most {
                parts.append(part)
                part = []
            } else {
                part.append(byte)
            }
        }
        return parts + [part]
    }
}
