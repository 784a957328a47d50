// SPDX-License-Identifier: Apache-2.0
import Crypto
import LoginProtocol

/// What a key signs: a text that the daemon composed, or a caller's data, of which only the digest
/// is known.
struct SignedMessage {
    /// The text; nil for a caller's data.
    let text: Bytes?
    /// SHA-256 of the message, 32 bytes.
    let digest: Bytes

    init(text: Bytes) throws(CryptoFault) {
        self.text = text
        digest = try SHA256.digest(text)
    }

    init(digest: Bytes) {
        text = nil
        self.digest = digest
    }
}
