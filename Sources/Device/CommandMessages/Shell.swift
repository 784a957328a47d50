// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Words of a command that the user can copy.
package enum Shell {
    /// A word, quoted for a shell if necessary.
    package static func word(_ word: Bytes) -> Bytes {
        let isPlain =
            !word.isEmpty
            && word.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "/._-+:@,%".utf8.contains(byte)
                }
            }
        if isPlain { return word }
        let quote = UInt8(ascii: "'")
        return [quote] + word.flatMap { $0 == quote ? Bytes("'\\''".utf8) : [$0] } + [quote]
    }

    /// An account's name, quoted for a shell if necessary.
    package static func word(_ name: EntityName<some Any>) -> Bytes { word(name.bytes) }
}
