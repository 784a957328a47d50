// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("HMAC-SHA256")
struct HMACTests {
    @Test("RFC 4231's examples one, two, three, six and seven")
    func vectors() throws {
        let long = [UInt8](repeating: 0xaa, count: 131)
        let examples: [([UInt8], [UInt8], String)] = [
            (
                [UInt8](repeating: 0x0b, count: 20), bytes("Hi There"),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                bytes("Jefe"), bytes("what do ya want for nothing?"),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 20), [UInt8](repeating: 0xdd, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                long, bytes("Test Using Larger Than Block-Size Key - Hash Key First"),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                long,
                bytes(
                    "This is a test using a larger than block-size key and a larger than "
                        + "block-size data. The key needs to be hashed before being used by the "
                        + "HMAC algorithm."),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ]
        for (key, message, code) in examples {
            let key = try secret(key)
            #expect(try HMAC.sha256(of: message, key: key) == hex(code))
            #expect(try HMAC.verifies(hex(code), of: message, key: key))
        }
    }

    @Test("another code, message or key is refused, and a cut code")
    func refusals() throws {
        let key = try SecretBytes.random(32)
        let message = bytes("signet-mac: 1\n")
        let code = try HMAC.sha256(of: message, key: key)
        for index in code.indices {
            var altered = code
            altered[index] ^= 1
            #expect(try !HMAC.verifies(altered, of: message, key: key))
            #expect(try !HMAC.verifies(Array(code[..<index]), of: message, key: key))
        }
        #expect(try !HMAC.verifies(code + [0], of: message, key: key))
        #expect(try !HMAC.verifies(code, of: message + [0], key: key))
        #expect(try !HMAC.verifies(code, of: [], key: key))
        #expect(try !HMAC.verifies(code, of: message, key: SecretBytes.random(32)))
    }

    @Test("an empty key is refused, an empty message is not")
    func empty() throws {
        #expect(throws: CryptoFault.length) { try HMAC.sha256(of: [1], key: secret([])) }
        #expect(try HMAC.sha256(of: [], key: SecretBytes.random(32)).count == HMAC.count)
    }
}

@Suite("Bearer secrets and codes")
struct BearerSecretTests {
    @Test(
        "each is new, and its text leads to the digest that is kept",
        arguments: BearerSecret.allCases)
    func generated(kind: BearerSecret) throws {
        let one = try kind.generate()
        let other = try kind.generate()
        #expect(one.text != other.text && one.digest != other.digest)
        #expect(one.text.count == 47)
        #expect(one.text.starts(with: kind.prefix.bytes))
        #expect(try kind.digest(of: one.text) == one.digest)
        #expect(try one.digest == SHA256.digest(one.text))
    }

    @Test("is invalid if it is cut, extended, or of another kind", arguments: BearerSecret.allCases)
    func refused(kind: BearerSecret) throws {
        let text = try kind.generate().text
        for length in text.indices { #expect(try kind.digest(of: Array(text[..<length])) == nil) }
        #expect(try kind.digest(of: text + bytes("A")) == nil)
        #expect(try kind.digest(of: text.dropLast() + bytes("=")) == nil)
        #expect(try kind.digest(of: bytes("SGK_") + text.dropFirst(4)) == nil)
        for other in BearerSecret.allCases where other != kind {
            #expect(try other.digest(of: text) == nil)
        }
    }

    @Test("an activation code's digest does not depend on how it was typed")
    func activation() throws {
        let code = try ActivationCode.generate()
        let typed = String(decoding: code.text, as: UTF8.self).lowercased().filter { $0 != "-" }
        #expect(try ActivationCode(typed: bytes(typed)).digest() == code.digest())
        #expect(try code.digest() == SHA256.digest(bytes("signet-activation:") + code.text))
        #expect(try ActivationCode.generate() != code)
    }
}

@Suite("A secret sealed for a row")
struct RowSealTests {
    private let master: SecretBytes

    init() throws { master = try SecretBytes.random(32) }

    @Test("opens for its row, also after a restart")
    func roundTrip() throws {
        let plain = try SecretBytes.random(32)
        let sealed = try RowSeal(master: master, context: "mac-token").seal(plain, row: [1, 2])
        let again = try RowSeal(master: master, context: "mac-token")
        #expect(try again.open(sealed, row: [1, 2]).equals(plain))
        #expect(sealed.count == 32 + AESGCM.overhead)
        #expect(try again.seal(plain, row: [1, 2]) != sealed)
    }

    @Test("for another row, context or master, altered or cut, it does not open")
    func refused() throws {
        let seal = try RowSeal(master: master, context: "mac-token")
        let sealed = try seal.seal(try SecretBytes.random(32), row: [1, 2])
        refuse(seal, sealed, row: [1, 3])
        refuse(seal, sealed, row: [1])
        refuse(seal, sealed, row: [1, 2, 0])
        refuse(try RowSeal(master: master, context: "signing-key"), sealed, row: [1, 2])
        refuse(
            try RowSeal(master: SecretBytes.random(32), context: "mac-token"), sealed, row: [1, 2])
        for index in sealed.indices {
            var altered = sealed
            altered[index] ^= 1
            refuse(seal, altered, row: [1, 2])
            refuse(seal, Array(sealed[..<index]), row: [1, 2])
        }
        refuse(seal, sealed + [0], row: [1, 2])
    }

    @Test("a short master secret, an empty context and an empty row are refused")
    func lengths() throws {
        #expect(throws: CryptoFault.length) {
            try RowSeal(master: SecretBytes.random(31), context: "mac-token")
        }
        #expect(throws: CryptoFault.length) { try RowSeal(master: master, context: "") }
        let seal = try RowSeal(master: master, context: "mac-token")
        let plain = try SecretBytes.random(1)
        #expect(throws: CryptoFault.length) { try seal.seal(plain, row: []) }
        #expect(throws: CryptoFault.length) { try seal.open([UInt8](0..<64), row: []) }
    }

    private func refuse(_ seal: RowSeal, _ sealed: [UInt8], row: [UInt8]) {
        #expect(throws: CryptoFault.notAuthentic) { try seal.open(sealed, row: row) }
    }
}
