import Crypto
import Statement

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

/// Bytes that a stranger sent, as they may stand in the audit trail: cut, and without what could
/// forge a line.
func printable(_ bytes: [UInt8]) -> String {
    let cut = bytes.prefix(128)
    let text = String(decoding: cut, as: UTF8.self)
    // Nearly all are.
    if cut.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
    let scalars = text.unicodeScalars.map {
        $0.properties.generalCategory == .control ? "\u{FFFD}" : $0
    }
    return String(String.UnicodeScalarView(scalars))
}
