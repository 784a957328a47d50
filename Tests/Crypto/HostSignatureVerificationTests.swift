// SPDX-License-Identifier: Apache-2.0
import Crypto
import SignedFormats
import TestSupport
import Testing

@Suite("The signature of a host")
struct HostSignatureVerificationTests {
    /// A key of ssh-keygen's, and what it has signed.
    private struct Sample {
        let key: HostPublicKey
        let signature: HostSignature
        let data: [UInt8]
        let blob: [UInt8]
    }

    /// Takes the signature that ssh-keygen has made out of its SSHSIG, where it is over known data.
    private func sample(_ options: String) throws -> Sample {
        let directory = try Scratch()
        try directory.write("text", [UInt8]("hello".utf8))
        try #require(
            directory.run(
                "ssh-keygen -q \(options) -N '' -f key "
                    + "&& ssh-keygen -q -Y sign -f key -n test -O hashalg=sha256 text") == 0)
        let line = try directory.read("key.pub").split(separator: 0x20)
        let keyBlob = try #require(Base64.decode([UInt8](line[1]), alphabet: .standard))
        var reader = SSHReader(try #require(Armour.unwrapAny(directory.read("text.sig"))))
        try reader.skipped(10)
        for _ in 0..<4 { _ = try reader.string(cap: 4_096) }
        let signature = try reader.string(cap: 4_096)
        let key = try HostPublicKey(SSHHostKey(blob: keyBlob))
        return Sample(
            key: key, signature: try HostSignature(signature, for: key),
            data: SSHSignature.signedData(
                namespace: [UInt8]("test".utf8),
                messageDigest: try SHA256.digest([UInt8]("hello".utf8))), blob: signature)
    }

    @Test(
        "of each kind of key is verified, over these data and by this key alone",
        arguments: [
            "-t ed25519", "-t ecdsa -b 256", "-t ecdsa -b 384", "-t ecdsa -b 521",
            "-t rsa -b 2048", "-t rsa -b 1024",
        ])
    func stock(options: String) throws {
        let one = try sample(options)
        let other = try sample(options)
        #expect(try one.key.verifies(one.signature, over: one.data))
        #expect(try !one.key.verifies(one.signature, over: one.data + [0]))
        #expect(try !one.key.verifies(one.signature, over: []))
        #expect(try !one.key.verifies(other.signature, over: one.data))
        #expect(try !other.key.verifies(one.signature, over: one.data))
        // Each bit counts, in a sample of the last bytes.
        for place in one.blob.indices.suffix(8) {
            var altered = one.blob
            altered[place] ^= 1
            guard let signature = try? HostSignature(altered, for: one.key) else { continue }
            #expect(try !one.key.verifies(signature, over: one.data))
        }
    }

    @Test("of another kind of key, or by a point that is on no curve, is none")
    func mismatches() throws {
        let ed = try sample("-t ed25519")
        let curve = try sample("-t ecdsa -b 256")
        #expect(try !ed.key.verifies(curve.signature, over: curve.data))
        #expect(try !curve.key.verifies(ed.signature, over: ed.data))
        let off = HostPublicKey.ecdsa(.p256, point: [4] + [UInt8](repeating: 7, count: 64))
        #expect(try !off.verifies(curve.signature, over: curve.data))
        let zero = HostSignature.ecdsa(
            r: [UInt8](repeating: 0, count: 32), s: [UInt8](repeating: 0, count: 32))
        #expect(try !curve.key.verifies(zero, over: curve.data))
    }
}

extension Armour {
    /// The bytes of any SSHSIG, whatever its key.
    fileprivate static func unwrapAny(_ text: [UInt8]) -> [UInt8]? {
        let lines = text.split(separator: 10).dropFirst().dropLast()
        return Base64.decode([UInt8](lines.joined()), alphabet: .standard)
    }
}

@Suite("The digest of a passphrase")
struct PassphraseDigestTests {
    @Test("recognises the passphrase, and no other one")
    func recognises() throws {
        for passphrase in ["", "a", "correct horse", String(repeating: "x", count: 1_024)] {
            let digest = try PassphraseDigest(of: [UInt8](passphrase.utf8))
            #expect(try digest.matches([UInt8](passphrase.utf8)))
            for other in [passphrase + "x", "x" + passphrase, passphrase + "\0"] {
                #expect(try !digest.matches([UInt8](other.utf8)))
            }
        }
    }
}
