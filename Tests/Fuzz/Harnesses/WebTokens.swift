// SPDX-License-Identifier: Apache-2.0
import Crypto
import SignedFormats

/// Signed web tokens in compact form; the key is made anew in each run.
enum WebTokens: Harness {
    static let name = "web-tokens"

    private static let pair: (key: P256PrivateKey, webKey: JSONWebKey)? = {
        guard let key = try? P256PrivateKey.generate(),
            let publicKey = try? P256PublicKey(point: key.publicPoint),
            let webKey = try? JSONWebKey(publicKey)
        else { return nil }
        return (key, webKey)
    }()

    private static let payload = bytes(#"{"sub":"alice"}"#)
    private static let token: [UInt8] = {
        guard let pair else { return [] }
        return (try? JSONWebToken.sign(payload: payload, with: pair.key, keyID: pair.webKey.id))
            ?? []
    }()

    static var seeds: [[UInt8]] {
        [token, token.filter { $0 != UInt8(ascii: ".") }, bytes("e30.e30."), bytes("...")]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let pair else { return }
        let payload = try? JSONWebToken.verify(bytes, keys: [pair.webKey])
        // Nobody but the key's owner can sign: what is accepted is the one token there is.
        if let payload { require(payload == self.payload && bytes == token, "a forged token") }
        require(bytes != token || payload != nil, "the good token is refused")
    }
}
