// SPDX-License-Identifier: Apache-2.0
/// The rule for names of accounts that may be passed to PAM.
enum PAMAccountName {
    /// Whether a name may be passed to PAM.
    ///
    /// It must have 1 to 255 bytes, contain no control character, `:` or `/`, and not begin
    /// with `-`, so that it cannot be mistaken for an option.
    static func isAcceptable(_ name: String) -> Bool {
        let bytes = name.utf8
        guard (1...255).contains(bytes.count), bytes.first != UInt8(ascii: "-") else {
            return false
        }
        return bytes.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7f && byte != UInt8(ascii: ":") && byte != UInt8(ascii: "/")
        }
    }
}
