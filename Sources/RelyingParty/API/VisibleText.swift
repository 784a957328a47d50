// SPDX-License-Identifier: Apache-2.0
import SignedFormats

// Text from outside, made safe to store and to show.

/// Makes untrusted bytes safe for the audit trail: at most 128 bytes, with `visible` applied.
func printable(_ bytes: [UInt8]) -> String {
    let cut = bytes.prefix(128)
    let text = String(decoding: cut, as: UTF8.self)
    // The common case: printable ASCII.
    if cut.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
    return visible(text)
}

/// Replaces characters that a reader could not see, or that would mislead, by U+FFFD.
///
/// These are the characters that end a line, show nothing or change the writing direction. So a
/// reader sees everything that the text contains.
func visible(_ text: String) -> String {
    String(decoding: visible([UInt8](text.utf8)), as: UTF8.self)
}

/// Replaces the same characters in well-formed UTF-8 bytes.
func visible(_ text: [UInt8]) -> [UInt8] {
    Printable.escaping(text, invisible: true) { byte, shown in
        // One replacement per character: skip UTF-8 continuation bytes.
        if byte & 0xC0 != 0x80 { shown += "\u{FFFD}".utf8 }
    }
}
