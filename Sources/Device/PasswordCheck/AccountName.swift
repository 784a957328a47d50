// SPDX-License-Identifier: Apache-2.0
/// The names of accounts that may be passed to PAM.
enum AccountName {
    /// Whether a name is 1–32 bytes without control characters, space, `:` and `/`, and does not
    /// begin with `-`.
    static func isAcceptable(_ name: String) -> Bool {
        let bytes = name.utf8
        guard (1...32).contains(bytes.count), bytes.first != UInt8(ascii: "-") else { return false }
        return bytes.allSatisfy { byte in
            byte > 0x20 && byte != 0x7f && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "/")
        }
    }
}
