// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import Testing

@Suite("AES-256-GCM")
struct AESGCMTests {
    let key: SecretBytes

    init() throws { key = try SecretBytes.random(32) }

    @Test("the GCM specification's test case 16 opens to its plain text")
    func vector() throws {
        let key = try secret(
            hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"))
        let sealed = hex(
            """
            cafebabefacedbaddecaf888
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
            8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
            76fc6ece0f4e1768cddf8853bb2d551b
            """)
        let plain = hex(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """)
        let additional = hex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        #expect(
            revealed(try AESGCM.open(sealed, key: key, additional: additional)) == plain)
    }

    @Test("test case 13, which seals nothing, opens to nothing")
    func emptyVector() throws {
        let key = try secret([UInt8](repeating: 0, count: 32))
        let sealed = [UInt8](repeating: 0, count: 12) + hex("530f8afbc74536b9a963b4f1c4cb738b")
        #expect(try AESGCM.open(sealed, key: key, additional: []).count == 0)
    }

    @Test("what was sealed opens, and no two seals are alike", arguments: [0, 1, 138, 6000])
    func roundTrip(_ count: Int) throws {
        let plain = try SecretBytes.random(count)
        let one = try AESGCM.seal(plain, key: key, additional: [1, 2])
        #expect(one.count == count + AESGCM.overhead)
        #expect(try AESGCM.open(one, key: key, additional: [1, 2]).equals(plain))
        #expect(try AESGCM.seal(plain, key: key, additional: [1, 2]) != one)
    }

    @Test("one altered byte anywhere is refused")
    func altered() throws {
        let sealed = try AESGCM.seal(try secret([1, 2, 3]), key: key, additional: [])
        for index in sealed.indices {
            var copy = sealed
            copy[index] ^= 1
            refused(copy, key: key, additional: [])
        }
    }

    @Test("truncated, extended, another key, other data are refused")
    func refusals() throws {
        let sealed = try AESGCM.seal(try secret([1, 2, 3]), key: key, additional: [7])
        for count in 0..<sealed.count {
            refused(Array(sealed[..<count]), key: key, additional: [7])
        }
        refused(sealed + [0], key: key, additional: [7])
        refused(sealed, key: try SecretBytes.random(32), additional: [7])
        refused(sealed, key: key, additional: [])
        refused(sealed, key: key, additional: [7, 0])
    }

    @Test("a key of another length is refused", arguments: [0, 16, 31, 33])
    func keyLength(_ count: Int) throws {
        let wrong = try SecretBytes.random(count)
        #expect(throws: CryptoFault.length) {
            try AESGCM.seal(wrong, key: wrong, additional: [])
        }
        #expect(throws: CryptoFault.length) {
            try AESGCM.open([], key: wrong, additional: [])
        }
    }

    private func refused(_ sealed: [UInt8], key: SecretBytes, additional: [UInt8]) {
        #expect(throws: CryptoFault.notAuthentic) {
            try AESGCM.open(sealed, key: key, additional: additional)
        }
    }
}
