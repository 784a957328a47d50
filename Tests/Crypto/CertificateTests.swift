// SPDX-License-Identifier: Apache-2.0
import Crypto
import Posix
import TestSupport
import Testing

@Suite("certificates and authorities")
struct CertificateTests {
    private let scratch: Scratch
    /// A minute after the certificates are made.
    private let now = Clock.system.wallSeconds() + 60

    init() throws {
        scratch = try Scratch()
        try openSSL(
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=root -keyout root.key -out root.pem"
        )
        try issue("leaf", by: "root", extensions: "basicConstraints=CA:FALSE\n")
    }

    @Test("a certificate is trusted if a named authority has issued it, now")
    func trusted() throws {
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        #expect(authorities.count == 1)
        let leaf = try certificate("leaf")
        #expect(leaf.keyKind == .p256 && leaf.point?.count == 65)
        #expect(try authorities.objection(to: leaf, at: now, use: "1.2.3") == nil)
        #expect(
            try authorities.objection(to: leaf, at: now - 86_400, use: "1.2.3") == .notYetValid)
        #expect(try authorities.objection(to: leaf, at: now + 4_000_000, use: "1.2.3") == .expired)
        // The authority itself is no device.
        try openSSL("x509 -in root.pem -outform DER -out root.der")
        #expect(
            try authorities.objection(to: try certificate("root"), at: now, use: "1.2.3")
                == .authority)
        // Another of the same name.
        try openSSL(
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=root -keyout o.key -out o.pem")
        let others = try CertificateAuthorities(pem: scratch.read("o.pem"))
        #expect(try others.objection(to: leaf, at: now, use: "1.2.3") == .foreign)
    }

    @Test("naming an authority below a root trusts what it issues, and not its siblings")
    func intermediate() throws {
        let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n"
        for name in ["one", "two"] { try issue(name, by: "root", extensions: authority) }
        for name in ["one", "two"] {
            try issue("under-\(name)", by: name, extensions: "basicConstraints=CA:FALSE\n")
        }
        let named = try CertificateAuthorities(pem: scratch.read("one.pem"))
        #expect(try named.objection(to: try certificate("under-one"), at: now, use: "1.2") == nil)
        for name in ["under-two", "leaf"] {
            #expect(
                try named.objection(to: try certificate(name), at: now, use: "1.2") == .foreign)
        }
        // The root alone does not know what is between.
        let root = try CertificateAuthorities(pem: scratch.read("root.pem"))
        #expect(
            try root.objection(to: try certificate("under-one"), at: now, use: "1.2") == .foreign)
        let both = try CertificateAuthorities(
            pem: scratch.read("root.pem") + scratch.read("two.pem"))
        #expect(both.count == 2)
        #expect(try both.objection(to: try certificate("under-two"), at: now, use: "1.2") == nil)
    }

    @Test("one that lists its extended uses is for these alone")
    func uses() throws {
        try issue("web", by: "root", extensions: "extendedKeyUsage=serverAuth,1.2.3.4\n")
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        let web = try certificate("web")
        #expect(try authorities.objection(to: web, at: now, use: "1.2.3.4") == nil)
        #expect(try authorities.objection(to: web, at: now, use: "1.2.3.5") == .otherUse)
        #expect(try authorities.objection(to: web, at: now, use: "1.2.3") == .otherUse)
    }

    @Test("bytes that are not one certificate of a key that is known are refused")
    func malformed() throws {
        let der = try scratch.read("leaf.der")
        for count in 0..<der.count {
            #expect(throws: CryptoFault.badCertificate) {
                try Certificate(der: Array(der.prefix(count)))
            }
        }
        #expect(throws: CryptoFault.badCertificate) { try Certificate(der: der + [0]) }
        #expect(throws: CryptoFault.badCertificate) {
            try Certificate(der: der + [UInt8](repeating: 0, count: Certificate.limit))
        }
        for (name, key) in [("big", "rsa:3072"), ("curve", "ec -pkeyopt ec_paramgen_curve:P-384")] {
            try openSSL(
                "req -x509 -newkey \(key) -nodes -subj /CN=x -keyout x.key -outform DER -out \(name).der"
            )
            #expect(throws: CryptoFault.badCertificate) { try certificate(name) }
        }
        for pem in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"] {
            #expect(throws: CryptoFault.badCertificate) {
                try CertificateAuthorities(pem: Array(pem.utf8))
            }
        }
        let damaged = try scratch.read("root.pem") + Array("-----BEGIN CERTIFICATE-----\n!".utf8)
        #expect(throws: CryptoFault.badCertificate) { try CertificateAuthorities(pem: damaged) }
    }

    @Test("a public key in PEM is one that openssl reads")
    func pem() throws {
        let key = try P256PrivateKey.generate()
        try scratch.write("key.pem", try P256PublicKey(point: key.publicPoint).pem)
        try scratch.write("text", "text")
        try scratch.write("sig", try key.sign(Array("text".utf8)).der)
        try openSSL("dgst -sha256 -verify key.pem -signature sig text")
        try scratch.write("text", "other")
        #expect(throws: TestFault.self) {
            try openSSL("dgst -sha256 -verify key.pem -signature sig text")
        }
    }

    @Test("AES in CFB mode encrypts as NIST's block cipher does, with any length")
    func cipher() throws {
        // FIPS-197's key, and the cipher's output for a block of zeros.
        let bytes: [UInt8] = [
            0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf,
            0x4f, 0x3c,
        ]
        let key = try unsafe SecretBytes(copying: bytes.span.bytes)
        let expected: [UInt8] = [
            0x7d, 0xf7, 0x6b, 0x0c, 0x1a, 0xb8, 0x99, 0xb3, 0x3e, 0x42, 0xf0, 0x47, 0xb9, 0x1b,
            0x54, 0x6f,
        ]
        let zeros = [UInt8](repeating: 0, count: 34)
        let sealed = try AESCFB.encrypt(zeros, key: key)
        #expect(sealed.count == 34 && Array(sealed.prefix(16)) == expected)
        let ones = [UInt8](repeating: 0xff, count: 5)
        #expect(try AESCFB.encrypt(ones, key: key) == expected.prefix(5).map { ~$0 })
        #expect(throws: CryptoFault.length) {
            try AESCFB.encrypt(zeros, key: try SecretBytes.random(32))
        }
    }

    @Test("two keys share one secret, whichever is asked")
    func agreement() throws {
        let (one, other) = (try P256PrivateKey.generate(), try P256PrivateKey.generate())
        let secret = try one.sharedSecret(with: try P256PublicKey(point: other.publicPoint))
        #expect(secret.count == 32)
        #expect(secret == (try other.sharedSecret(with: P256PublicKey(point: one.publicPoint))))
        #expect(secret != (try other.sharedSecret(with: P256PublicKey(point: other.publicPoint))))
    }

    private func certificate(_ name: String) throws -> Certificate {
        try Certificate(der: scratch.read("\(name).der"))
    }

    private func issue(_ name: String, by issuer: String, extensions: String) throws {
        try scratch.write("ext", extensions)
        try openSSL("ecparam -name prime256v1 -genkey -noout -out \(name).key")
        try openSSL("req -new -key \(name).key -subj /CN=\(name) -out \(name).csr")
        try openSSL(
            """
            x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial \
            -days 30 -extfile ext -out \(name).pem
            """)
        try openSSL("x509 -in \(name).pem -outform DER -out \(name).der")
    }

    private func openSSL(_ words: String) throws(TestFault) {
        var command = Command(["openssl"] + words.split(separator: " ").map(String.init))
        command.directory = scratch.path
        let outcome = try Program(command).expectEnd()
        guard outcome.succeeded else {
            throw .closed(awaited: "openssl \(words)", transcript: outcome.errors)
        }
    }
}
