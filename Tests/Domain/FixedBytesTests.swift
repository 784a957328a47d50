// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

@Suite("An id or a challenge")
struct FixedBytesTests {
    @Test("has exactly the bytes of its type, and is made of no others")
    func count() throws {
        for count in [0, 1, 15, 17, 31, 32, 64] {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(DeviceID(bytes) == nil && CredentialID(bytes) == nil)
            #expect(RegistrationID(bytes) == nil && OperationID(bytes) == nil)
            #expect(PrintID(bytes) == nil && SecretID(bytes) == nil && SessionID(bytes) == nil)
            #expect((Challenge(bytes) == nil) == (count != Challenge.count))
        }
        let sixteen = [UInt8](0..<16)
        #expect(try #require(DeviceID(sixteen)).bytes == sixteen)
        #expect(Challenge(sixteen) == nil)
        #expect(try #require(Challenge([UInt8](0..<32))).bytes == [UInt8](0..<32))
    }

    @Test("is equal only to one with equal bytes, and sorted by them")
    func order() {
        let one = PrintID.sample(0..<16)
        #expect(one == .sample(0..<16))
        for index in 0..<16 {
            var other = one
            other.flipBit(ofByte: index)
            #expect(other != one)
            #expect((one < other) == (one.bytes[index] & 1 == 0))
            #expect(one < other || other < one)
        }
    }

    @Test("is read from its digits in lower case, and from nothing else")
    func digits() throws {
        let id = DeviceID.sample(0..<16)
        let digits = Array("000102030405060708090a0b0c0d0e0f".utf8)
        #expect(id.hexadecimal == digits)
        #expect(DeviceID(hexadecimal: digits) == id)
        let wrong = [
            "", "00", "000102030405060708090a0b0c0d0e", "000102030405060708090a0b0c0d0e0f00",
            "000102030405060708090A0B0C0D0E0F", "000102030405060708090a0b0c0d0e0g",
            "0x0102030405060708090a0b0c0d0e0f", " 00102030405060708090a0b0c0d0e0f",
            "000102030405060708090a0b0c0d0e0",
        ]
        for text in wrong {
            #expect(DeviceID(hexadecimal: Array(text.utf8)) == nil, "'\(text)'")
        }
        #expect(Challenge(hexadecimal: digits) == nil)
    }
}
