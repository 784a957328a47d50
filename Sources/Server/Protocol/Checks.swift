// SPDX-License-Identifier: Apache-2.0
import Crypto
import SignedFormats

/// Whether a text was signed by a key, for one use; false also where cryptography itself failed.
func isSigned(
    _ text: [UInt8], signature: [UInt8], _ namespace: SignatureNamespace, by point: [UInt8]
) -> Bool {
    do throws(CryptoFault) {
        return try P256PublicKey(point: point).verifies(
            blob: signature, of: text, in: namespace)
    } catch {
        return false
    }
}

/// Bytes that a stranger sent, as they may stand in the audit trail: cut, and `visible`.
func printable(_ bytes: [UInt8]) -> String {
    let cut = bytes.prefix(128)
    let text = String(decoding: cut, as: UTF8.self)
    // Nearly all are.
    if cut.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
    return visible(text)
}

/// A text with U+FFFD in place of each character that ends a line, shows nothing or changes the
/// direction of writing: what it shows is what it says.
func visible(_ text: String) -> String {
    String(decoding: visible([UInt8](text.utf8)), as: UTF8.self)
}

/// The same of well-formed UTF-8.
func visible(_ text: [UInt8]) -> [UInt8] {
    Printable.escaping(text, invisible: true) { byte, shown in
        // One mark for a character: not for the bytes that continue it.
        if byte & 0xC0 != 0x80 { shown += "\u{FFFD}".utf8 }
    }
}
