// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

private let key = SSHPublicKey(point: [4] + [UInt8](0..<64))

private func signed(r: [UInt8], s: [UInt8]) -> SSHSignature? {
    key.map { SSHSignature(publicKey: $0, namespace: .login, r: r, s: s) }
}

@Suite("SSHSIG and its armour")
struct SSHSIGTests {
    private let high = [UInt8](repeating: 0xFF, count: 32)
    private let low = [UInt8](repeating: 0, count: 31) + [1]
    private let middle = [0, 0x80] + [UInt8](repeating: 5, count: 30)

    @Test("numbers of every length are read as they were written")
    func roundTrip() throws {
        for (r, s) in [(high, low), (low, high), (middle, middle), (high, high)] {
            let signature = try #require(signed(r: r, s: s))
            #expect(try SSHSignature(blob: signature.blob) == signature)
        }
    }

    @Test("namespaces differ from each other")
    func namespaces() {
        let all = SignatureNamespace.allCases.map(\.bytes)
        #expect(Set(all).count == 9)
        #expect(all[0] == bytes("login@signet"))
        #expect(all.allSatisfy { $0.reversed().starts(with: bytes("tengis@")) })
    }

    @Test("the signed data distinguishes namespaces and messages")
    func signedData() {
        let digest = [UInt8](0..<32)
        let data = SSHSignature.signedData(namespace: bytes("n"), messageDigest: digest)
        #expect(
            data == bytes("SSHSIG") + [0, 0, 0, 1] + bytes("n") + [0, 0, 0, 0]
                + [0, 0, 0, 6] + bytes("sha256") + [0, 0, 0, 32] + digest)
    }

    @Test("a blob cut short at every length, or followed by a byte, is refused")
    func truncated() throws {
        let blob = try #require(signed(r: high, s: middle)).blob
        for length in 0..<blob.count {
            #expect(throws: SSHFault.self) { try SSHSignature(blob: Array(blob[..<length])) }
        }
        #expect(throws: SSHFault.trailing) { try SSHSignature(blob: blob + [0]) }
        #expect(throws: SSHFault.tooLong) {
            try SSHSignature(blob: [UInt8](repeating: 0, count: 513))
        }
    }

    @Test("an altered blob is refused, or reads as exactly what it says")
    func mutated() throws {
        let blob = try #require(signed(r: high, s: middle)).blob
        for index in blob.indices {
            for bit in 0..<8 {
                var altered = blob
                altered[index] ^= 1 << UInt8(bit)
                if let other = try? SSHSignature(blob: altered) { #expect(other.blob == altered) }
            }
        }
    }

    @Test("a number that is zero, negative, too long or not in its shortest form is refused")
    func numbers() throws {
        let good = try #require(signed(r: low, s: low)).blob
        // It ends with r and s: 00000001 01 each.
        let head = good.dropLast(10)
        let ending: [([UInt8], Bool)] = [
            ([0, 0, 0, 1, 1, 0, 0, 0, 1, 1], true),
            ([0, 0, 0, 1, 0x81, 0, 0, 0, 1, 1], false),
            ([0, 0, 0, 1, 0, 0, 0, 0, 1, 1], false),
            ([0, 0, 0, 2, 0, 1, 0, 0, 0, 0], false),
        ]
        for (tail, accepted) in ending {
            #expect(((try? SSHSignature(blob: head + tail)) != nil) == accepted)
        }
    }

    @Test("armour of blobs of every length is read as it was written")
    func armour() {
        for count in 0..<300 {
            let blob = (0..<count).map { UInt8($0 & 255) }
            let text = Armour.wrap(blob)
            #expect(Armour.unwrap(text) == blob)
            #expect(text.split(separator: 10).allSatisfy { $0.count <= 70 })
        }
    }

    @Test("armour that is cut, followed by something, or broken otherwise is refused")
    func armourRefused() {
        let text = Armour.wrap([UInt8](0..<100))
        for length in 0..<text.count { #expect(Armour.unwrap(Array(text[..<length])) == nil) }
        #expect(Armour.unwrap(text + [10]) == nil)
        #expect(Armour.unwrap([10] + text) == nil)
        for index in text.indices {
            for byte in [10, 0x20, UInt8(ascii: "="), 13] where byte != text[index] {
                var altered = text
                altered[index] = byte
                #expect(Armour.unwrap(altered) == nil)
                altered = text
                altered.insert(byte, at: index)
                #expect(Armour.unwrap(altered) == nil)
            }
        }
    }
}

@Suite("A receipt")
struct ReceiptTests {
    private let statement = sampleStatement.encoded()
    private let blob = [UInt8](0..<120)

    @Test("is split where it was joined")
    func split() throws {
        let parts = try #require(Receipt.split(Receipt.text(statement: statement, signature: blob)))
        #expect(parts.statement == statement)
        #expect(parts.signature == blob)
    }

    @Test("is refused when cut, doubled, or without its signature")
    func refused() {
        let text = Receipt.text(statement: statement, signature: blob)
        for length in 0..<text.count { #expect(Receipt.split(Array(text[..<length])) == nil) }
        #expect(Receipt.split(text + text) == nil)
        #expect(Receipt.split(text + [10]) == nil)
        #expect(Receipt.split(statement) == nil)
    }

    @Test("a purpose that looks like armour does not split it")
    func hostile() throws {
        var hostile = sampleStatement
        hostile.purpose = bytes("x\n") + Armour.wrap([1])
        let text = Receipt.text(statement: hostile.encoded(), signature: blob)
        let parts = try #require(Receipt.split(text))
        #expect(try Statement(parsing: parts.statement) == hostile)
        #expect(parts.signature == blob)
    }
}

@Suite("A public key")
struct PublicKeyTests {
    @Test("its line and blob are read as they were written, with the comment")
    func roundTrip() throws {
        let key = try #require(key)
        #expect(try SSHPublicKey(blob: key.blob) == key)
        for comment in ["", "alice", "alice@host and more"] {
            let parsed = try SSHPublicKey.parse(line: key.line(comment: bytes(comment)))
            #expect(parsed.key == key)
            #expect(parsed.comment == bytes(comment))
        }
    }

    @Test("a point of another size or form is refused")
    func points() {
        #expect(SSHPublicKey(point: []) == nil)
        #expect(SSHPublicKey(point: [2] + [UInt8](0..<32)) == nil)
        #expect(SSHPublicKey(point: [2] + [UInt8](0..<64)) == nil)
        #expect(SSHPublicKey(point: [4] + [UInt8](0..<65)) == nil)
    }

    @Test("a line that is not exactly one key is refused")
    func refused() throws {
        let line = try #require(key).line(comment: bytes("alice"))
        for length in 0..<line.count {
            #expect(throws: SSHFault.self) { try SSHPublicKey.parse(line: Array(line[..<length])) }
        }
        #expect(throws: SSHFault.self) { try SSHPublicKey.parse(line: line + line) }
        #expect(throws: SSHFault.self) { try SSHPublicKey.parse(line: [32] + line) }
        #expect(throws: SSHFault.self) { try SSHPublicKey.parse(line: bytes("ssh-rsa AAAA x\n")) }
        let long = line.dropLast() + [UInt8](repeating: 0x61, count: 2_048) + [10]
        #expect(throws: SSHFault.tooLong) { try SSHPublicKey.parse(line: long) }
    }

    @Test("a blob cut short at every length, or followed by a byte, is refused")
    func blob() throws {
        let blob = try #require(key).blob
        for length in 0..<blob.count {
            #expect(throws: SSHFault.self) { try SSHPublicKey(blob: Array(blob[..<length])) }
        }
        #expect(throws: SSHFault.trailing) { try SSHPublicKey(blob: blob + [0]) }
    }
}
