// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Glibc
import Posix
import SignedFormats
import TestSupport
import Testing

private func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

@Suite("A text's signature")
struct TextSignatureTests {
    private let key: P256PrivateKey
    private let verifier: P256PublicKey
    private let text = bytes("signet-login: 1\naudience: shop.example\n")

    init() throws {
        key = try P256PrivateKey.generate()
        verifier = try P256PublicKey(point: key.publicPoint)
    }

    @Test(
        "stock ssh-keygen verifies it in its own namespace and in no other",
        arguments: SignatureNamespace.allCases)
    func keygen(namespace: SignatureNamespace) throws {
        let directory = try Scratch()
        let signature = try key.signature(of: text, in: namespace)
        let line = signature.publicKey.line(comment: bytes("signet"))
        try directory.write("signers", bytes("alice ") + line)
        try directory.write("text", text)
        try directory.write("altered", text + [10])
        try directory.write("signature", Armour.wrap(signature.blob))
        func verify(_ space: [UInt8], _ file: String) -> Int32 {
            let name = String(decoding: space, as: UTF8.self)
            return directory.run(
                "ssh-keygen -Y verify -f signers -I alice -n \(name) -s signature < \(file)")
        }
        #expect(verify(namespace.bytes, "text") == 0)
        #expect(verify(namespace.bytes, "altered") != 0)
        for other in SignatureNamespace.allCases where other != namespace {
            #expect(verify(other.bytes, "text") != 0)
        }
    }

    @Test(
        "of stock ssh-keygen is accepted, in its own namespace only",
        arguments: SignatureNamespace.allCases)
    func fromKeygen(namespace: SignatureNamespace) throws {
        let directory = try Scratch()
        let name = String(decoding: namespace.bytes, as: UTF8.self)
        try directory.write("text", text)
        let make = "ssh-keygen -q -t ecdsa -b 256 -N '' -C x -f key"
        let sign = "ssh-keygen -Y sign -f key -n \(name) -O hashalg=sha256 text"
        try #require(directory.run("\(make) && \(sign)") == 0)
        let point = try SSHPublicKey.parse(line: directory.read("key.pub")).key.point.bytes
        let stock = try P256PublicKey(point: point)
        let blob = try #require(Armour.unwrap(directory.read("text.sig")))
        for space in SignatureNamespace.allCases {
            #expect(
                try stock.verifies(blob: blob, of: text, in: space) == (space == namespace))
        }
        #expect(try !verifier.verifies(blob: blob, of: text, in: namespace))
    }

    @Test("is good for its own text, namespace and key only")
    func refusals() throws {
        let blob = try key.signature(of: text, in: .request).blob
        #expect(try verifier.verifies(blob: blob, of: text, in: .request))
        for namespace in SignatureNamespace.allCases where namespace != .request {
            #expect(try !verifier.verifies(blob: blob, of: text, in: namespace))
        }
        let other = try P256PrivateKey.generate()
        let otherVerifier = try P256PublicKey(point: other.publicPoint)
        #expect(try !otherVerifier.verifies(blob: blob, of: text, in: .request))
        for index in text.indices {
            var altered = text
            altered[index] ^= 1
            #expect(try !verifier.verifies(blob: blob, of: altered, in: .request))
            #expect(
                try !verifier.verifies(blob: blob, of: Array(text[..<index]), in: .request))
        }
    }

    @Test("cut, extended or altered anywhere it is refused, and faults are not thrown")
    func altered() throws {
        let blob = try key.signature(of: text, in: .operation).blob
        for length in blob.indices {
            #expect(
                try !verifier.verifies(blob: Array(blob[..<length]), of: text, in: .operation))
        }
        #expect(try !verifier.verifies(blob: blob + [0], of: text, in: .operation))
        for index in blob.indices {
            var copy = blob
            copy[index] ^= 0x10
            #expect(try !verifier.verifies(blob: copy, of: text, in: .operation))
        }
    }

    @Test("by another key that names this one is refused")
    func foreignNumbers() throws {
        let other = try P256PrivateKey.generate()
        let foreign = try other.signature(of: text, in: .login)
        let point = try #require(SSHPublicKey(point: key.publicPoint))
        let forged = SSHSignature(publicKey: point, namespace: .login, r: foreign.r, s: foreign.s)
        #expect(try !verifier.verifies(blob: forged.blob, of: text, in: .login))
    }
}
