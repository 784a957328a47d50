// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Testing

@Suite("digests and derived keys")
struct DerivationTests {
    @Test("SHA-256 of FIPS 180-4's examples")
    func digest() throws {
        let abc = hex("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let empty = hex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(try SHA256.digest(Array("abc".utf8)) == abc)
        #expect(try SHA256.digest([]) == empty)
    }

    @Test("a digest fed in pieces is that of the whole")
    func pieces() throws {
        var context = try SHA256Context()
        try context.update(Array("a".utf8))
        try context.update([])
        try context.update(Array("bc".utf8))
        let digest = try context.finish()
        #expect(try digest == SHA256.digest(Array("abc".utf8)))
    }

    @Test("RFC 5869's first, second and third example")
    func vectors() throws {
        let first = try HKDF.derive(
            from: secret([UInt8](repeating: 0x0b, count: 22)), salt: Array(0x00...0x0c),
            info: Array(0xf0...0xf9), count: 42)
        #expect(
            revealed(first)
                == hex(
                    """
                    3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf
                    34007208d5b887185865
                    """))
        let second = try HKDF.derive(
            from: secret(Array(0x00...0x4f)), salt: Array(0x60...0xaf), info: Array(0xb0...0xff),
            count: 82)
        #expect(
            revealed(second)
                == hex(
                    """
                    b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c
                    59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71
                    cc30c58179ec3e87c14c01d5c1f3434f1d87
                    """))
        let third = try HKDF.derive(
            from: secret([UInt8](repeating: 0x0b, count: 22)), salt: [], info: [], count: 42)
        #expect(
            revealed(third)
                == hex(
                    """
                    8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d
                    9d201395faa4b61a96c8
                    """))
    }

    @Test("lengths that RFC 5869 does not allow, and an empty secret, are refused")
    func lengths() throws {
        let key = try secret([1])
        #expect(throws: CryptoFault.length) {
            try HKDF.derive(from: key, salt: [], info: [], count: 8161)
        }
        #expect(throws: CryptoFault.length) {
            try HKDF.derive(from: key, salt: [], info: [], count: 0)
        }
        #expect(throws: CryptoFault.length) {
            try HKDF.derive(from: secret([]), salt: [], info: [], count: 32)
        }
        #expect(try HKDF.derive(from: key, salt: [], info: [], count: 8160).count == 8160)
    }
}
