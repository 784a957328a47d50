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
        try issue("leaf", by: "root")
    }

    @Test("a certificate is trusted if a named authority has issued it, now")
    func trusted() throws {
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        #expect(authorities.count == 1)
        let leaf = try certificate("leaf")
        #expect(leaf.keyKind == .p256 && leaf.point?.count == 65)
        #expect(try authorities.objection(to: leaf, at: now, use: Self.use) == nil)
        #expect(
            try authorities.objection(to: leaf, at: now - 86_400, use: Self.use) == .notYetValid)
        #expect(try authorities.objection(to: leaf, at: now + 4_000_000, use: Self.use) == .expired)
        // The authority itself is no device.
        try openSSL("x509 -in root.pem -outform DER -out root.der")
        #expect(
            try authorities.objection(to: try certificate("root"), at: now, use: Self.use)
                == .authority)
        // Another of the same name.
        try openSSL(
            "req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=root -keyout o.key -out o.pem")
        let others = try CertificateAuthorities(pem: scratch.read("o.pem"))
        #expect(try others.objection(to: leaf, at: now, use: Self.use) == .foreign)
    }

    @Test("naming an authority below a root trusts what it issues, and not its siblings")
    func intermediate() throws {
        let authority = "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign\n"
        for name in ["one", "two"] { try issue(name, by: "root", extensions: authority) }
        for name in ["one", "two"] {
            try issue("under-\(name)", by: name)
        }
        let named = try CertificateAuthorities(pem: scratch.read("one.pem"))
        #expect(
            try named.objection(to: try certificate("under-one"), at: now, use: Self.use) == nil)
        for name in ["under-two", "leaf"] {
            #expect(
                try named.objection(to: try certificate(name), at: now, use: Self.use) == .foreign)
        }
        // The root alone does not know what is between.
        let root = try CertificateAuthorities(pem: scratch.read("root.pem"))
        #expect(
            try root.objection(to: try certificate("under-one"), at: now, use: Self.use) == .foreign
        )
        let both = try CertificateAuthorities(
            pem: scratch.read("root.pem") + scratch.read("two.pem"))
        #expect(both.count == 2)
        #expect(try both.objection(to: try certificate("under-two"), at: now, use: Self.use) == nil)
    }

    @Test(
        "it must say that it is for the use, and for secrets that are sent to its key",
        arguments: [
            "keyUsage=keyAgreement\nextendedKeyUsage=serverAuth,1.2.3.4\n",
            "keyUsage=critical,digitalSignature,keyAgreement\nextendedKeyUsage=critical,1.2.3.4\n",
        ])
    func uses(extensions: String) throws {
        try issue("web", by: "root", extensions: extensions)
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        let web = try certificate("web")
        #expect(try authorities.objection(to: web, at: now, use: "1.2.3.4") == nil)
        for use in ["1.2.3.5", "1.2.3", "2.5.29.37.0"] {
            #expect(try authorities.objection(to: web, at: now, use: use) == .otherUse)
        }
    }

    @Test(
        "one that says less, or something else, is for another use",
        arguments: [
            "basicConstraints=CA:FALSE\n",
            "keyUsage=keyAgreement\n",
            "extendedKeyUsage=1.2.3.4\n",
            "keyUsage=keyAgreement\nextendedKeyUsage=serverAuth\n",
            "keyUsage=keyAgreement\nextendedKeyUsage=anyExtendedKeyUsage\n",
            "keyUsage=digitalSignature\nextendedKeyUsage=1.2.3.4\n",
            // That of RSA, for a key on a curve.
            "keyUsage=keyEncipherment,digitalSignature\nextendedKeyUsage=1.2.3.4\n",
        ])
    func otherUses(extensions: String) throws {
        try issue("other", by: "root", extensions: extensions)
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        #expect(
            try authorities.objection(to: certificate("other"), at: now, use: Self.use) == .otherUse
        )
    }

    @Test("RSA keys are for secrets that are encrypted")
    func encryption() throws {
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        for (usage, objection) in [
            ("keyEncipherment", nil), ("keyAgreement", .otherUse), ("digitalSignature", .otherUse),
        ] as [(String, CertificateObjection?)] {
            try issue(
                "rsa", by: "root", extensions: "keyUsage=\(usage)\nextendedKeyUsage=1.2.3.4\n",
                key: "rsa:2048")
            #expect(
                try authorities.objection(to: certificate("rsa"), at: now, use: Self.use)
                    == objection, "\(usage)")
        }
    }

    @Test(
        "an authority's certificate is none for a device, whatever its key may do",
        arguments: [
            "basicConstraints=CA:TRUE\n", "basicConstraints=critical,CA:TRUE,pathlen:0\n",
        ])
    func authorities(extensions: String) throws {
        let authorities = try CertificateAuthorities(pem: scratch.read("root.pem"))
        for usage in ["keyAgreement", "keyAgreement,keyCertSign"] {
            try issue(
                "both", by: "root",
                extensions: "\(extensions)keyUsage=\(usage)\nextendedKeyUsage=1.2.3.4\n")
            let both = try certificate("both")
            #expect(try authorities.objection(to: both, at: now, use: Self.use) == .authority)
        }
    }

    @Test(
        "nothing is issued by what is no authority's, not even if it is named",
        arguments: [
            "basicConstraints=CA:FALSE\n", "keyUsage=digitalSignature\n",
            "basicConstraints=critical,CA:TRUE\nkeyUsage=digitalSignature\n",
        ])
    func issuers(extensions: String) throws {
        try issue("issuer", by: "root", extensions: extensions)
        try issue("below", by: "issuer")
        for files in [["root"], ["issuer"], ["root", "issuer"]] {
            let pem = try files.flatMap { try scratch.read("\($0).pem") }
            let objection = try CertificateAuthorities(pem: pem).objection(
                to: certificate("below"), at: now, use: Self.use)
            #expect(objection != nil, "\(files)")
        }
    }

    @Test(
        "a weak key or digest above it is refused",
        arguments: [
            ("rsa:512", "sha256"), ("rsa:1024", "sha256"), ("rsa:2048", "md5"),
            ("rsa:2048", "sha1"),
        ])
    func weak(key: String, digest: String) throws {
        try openSSL(
            "req -x509 -newkey \(key) -\(digest) -nodes -days 30 -subj /CN=weak -keyout weak.key -out weak.pem"
        )
        try issue("leaf", by: "weak", digest: digest)
        let authorities = try CertificateAuthorities(pem: scratch.read("weak.pem"))
        #expect(
            try authorities.objection(to: certificate("leaf"), at: now, use: Self.use) == .weak)
        // The signature that a root makes of itself proves nothing, and is not looked at.
        try issue("other", by: "weak")
        #expect(
            try authorities.objection(to: certificate("other"), at: now, use: Self.use)
                == (key == "rsa:2048" ? nil : .weak))
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

    /// A use, and what says that a certificate is for it.
    private static let use = "1.2.3.4"
    private static let ofDevice =
        "basicConstraints=CA:FALSE\nkeyUsage=critical,keyAgreement\nextendedKeyUsage=1.2.3.4\n"

    private func issue(
        _ name: String, by issuer: String, extensions: String = ofDevice,
        key: String = "ec -pkeyopt ec_paramgen_curve:P-256", digest: String = "sha256"
    ) throws {
        try scratch.write("ext", extensions)
        try openSSL(
            "req -new -newkey \(key) -nodes -keyout \(name).key -subj /CN=\(name) -out \(name).csr")
        try openSSL(
            """
            x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial \
            -\(digest) -days 30 -extfile ext -out \(name).pem
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
