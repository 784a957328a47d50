// SPDX-License-Identifier: Apache-2.0
import Crypto
import TPMStructures
import TestSupport
import Testing

@Suite("public areas and policies")
struct PublicAreaTests {
    @Test("a Name is the hash's number and a SHA-256, as the TPM computes it")
    func name() throws {
        let tpm = try SoftwareTPM()
        let key = try tpm.makeStorageRootKey()
        let (area, name) = try tpm.readPublic(key)
        #expect(try PublicArea(bytes: area).name() == name)
        #expect(name.count == PublicArea.nameCount)
        #expect(try PublicArea(bytes: area.dropLast()).name() != name)
    }

    @Test("registers occur once each, from 0 to 23, and are read in ascending order")
    func registers() throws {
        #expect(try #require(RegisterSelection([23, 0, 7])).numbers == [0, 7, 23])
        #expect(try #require(RegisterSelection([])) == .none)
        let bitmap = try #require(RegisterSelection([23, 0, 7])).bitmap
        #expect(bitmap == [0x81, 0, 0x80])
        #expect(RegisterSelection(bitmap: bitmap) == RegisterSelection([0, 7, 23]))
        for numbers in [[24], [-1], [Int.max], [Int.min], [1, 1]] {
            #expect(RegisterSelection(numbers) == nil)
        }
        #expect(RegisterSelection(bitmap: [1, 2]) == nil)
        #expect(RegisterSelection(bitmap: [1, 2, 3, 4]) == nil)
    }

    @Test("a policy has a digest of 32 bytes for registers, and none without")
    func policies() throws {
        let seven = try #require(RegisterSelection([7]))
        let digest = [UInt8](repeating: 1, count: 32)
        #expect(ObjectPolicy(registers: .none, registerDigest: digest) == nil)
        #expect(ObjectPolicy(registers: seven, registerDigest: []) == nil)
        #expect(ObjectPolicy(registers: seven, registerDigest: Array(digest.dropLast())) == nil)
        let plain = try #require(ObjectPolicy(registers: .none, registerDigest: [])).digest()
        let bound = try #require(ObjectPolicy(registers: seven, registerDigest: digest)).digest()
        // TPM2_PolicyAuthValue from zeros: SHA-256 of 32 zeros and 0x0000016b.
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(try plain == SHA256.digest(zeros + [0, 0, 1, 0x6b]))
        #expect(plain != bound)
    }

    @Test("what is read ends where its bytes end")
    func reader() {
        var reader = WireReader([0, 3, 1, 2, 3, 0, 0, 0, 9, 7])
        #expect(reader.sized(limit: 3) == [1, 2, 3])
        #expect(reader.uint32() == 9)
        #expect(reader.uint16() == nil)
        #expect(reader.bytes(-1) == nil)
        #expect(reader.bytes(1) == [7] && reader.isAtEnd)
        #expect(reader.bytes(1) == nil)
        var short = WireReader([0, 3, 1, 2])
        #expect(short.sized(limit: 10) == nil)
        var long = WireReader([0, 3, 1, 2, 3])
        #expect(long.sized(limit: 2) == nil)
        #expect(sized([UInt8](repeating: 0, count: 65_536)) == nil)
    }
}
