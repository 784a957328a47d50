// SPDX-License-Identifier: Apache-2.0
extension [UInt8] {
    /// The parts between separators, empty ones too; the last of `most` parts keeps the rest.
    ///
    /// Not by `split`, which costs the PAM module five times as much code.
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
