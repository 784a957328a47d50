// SPDX-License-Identifier: Apache-2.0
import Crypto
import Glibc
import Posix
import TestSupport
import Testing

@Suite("P-256")
struct P256Tests {
    static let point = hex(
        """
        04 60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6
        7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299
        """)
    static let r = hex("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716")
    static let s = hex("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")

    @Test("RFC 6979's signature of 'sample' is accepted, and of nothing else")
    func vector() throws {
        let key = try P256PublicKey(point: Self.point)
        let signature = try #require(P256Signature(r: Self.r, s: Self.s))
        #expect(try key.verifies(signature, message: Array("sample".utf8)))
        #expect(try !key.verifies(signature, message: Array("samplf".utf8)))
        #expect(try !key.verifies(signature, message: []))
        let swapped = try #require(P256Signature(r: Self.s, s: Self.r))
        #expect(try !key.verifies(swapped, message: Array("sample".utf8)))
    }

    @Test("a signature by one key is good for it, not for another, not altered")
    func signs() throws {
        let key = try P256PrivateKey.generate()
        let other = try P256PrivateKey.generate()
        let message = Array("statement".utf8)
        let signature = try key.sign(message)
        let verifier = try P256PublicKey(point: key.publicPoint)
        #expect(try verifier.verifies(signature, message: message))
        #expect(try !P256PublicKey(point: other.publicPoint).verifies(signature, message: message))
        for index in 0..<32 {
            var r = signature.r
            var s = signature.s
            r[index] ^= 1
            s[index] ^= 1
            let first = try #require(P256Signature(r: r, s: signature.s))
            let second = try #require(P256Signature(r: signature.r, s: s))
            #expect(try !verifier.verifies(first, message: message))
            #expect(try !verifier.verifies(second, message: message))
        }
    }

    @Test("numbers of zero or of the group's order are not a signature")
    func degenerate() throws {
        let key = try P256PublicKey(point: Self.point)
        let zero = [UInt8](repeating: 0, count: 32)
        let order = hex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
        for (r, s) in [
            (zero, zero), (zero, Self.s), (Self.r, zero), (order, Self.s), (Self.r, order),
        ] {
            let signature = try #require(P256Signature(r: r, s: s))
            #expect(try !key.verifies(signature, message: Array("sample".utf8)))
        }
        #expect(P256Signature(r: [], s: Self.s) == nil)
        #expect(P256Signature(r: Self.r, s: Self.s + [0]) == nil)
    }

    @Test("signatures whose numbers begin with zeros verify")
    func shortNumbers() throws {
        let key = try P256PrivateKey.generate()
        let verifier = try P256PublicKey(point: key.publicPoint)
        var seen = false
        for number in 0..<2000 where !seen {
            let message = Array("\(number)".utf8)
            let signature = try key.sign(message)
            seen = signature.r.first == 0 || signature.s.first == 0
            if seen { #expect(try verifier.verifies(signature, message: message)) }
        }
        #expect(seen)
    }

    @Test("only an uncompressed point of the curve is a public key")
    func points() {
        var offCurve = Self.point
        offCurve[64] ^= 1
        var zero = [UInt8](repeating: 0, count: 65)
        zero[0] = 4
        let compressed = [2] + Self.point[1...32]
        var hybrid = Self.point
        hybrid[0] = 7
        let overField = [4] + [UInt8](repeating: 0xff, count: 64)
        for point in [
            [], [0], Array(Self.point.dropLast()), Self.point + [0], offCurve, zero,
            Array(compressed), hybrid, overField,
        ] {
            #expect(throws: CryptoFault.badPublicKey) { try P256PublicKey(point: point) }
        }
    }

    @Test("a key survives its own encoding")
    func encoding() throws {
        let key = try P256PrivateKey.generate()
        let again = try P256PrivateKey(pkcs8: try key.pkcs8())
        #expect(again.publicPoint == key.publicPoint)
        let verifier = try P256PublicKey(point: key.publicPoint)
        #expect(try verifier.verifies(try again.sign([1]), message: [1]))
        #expect(revealed(try again.pkcs8()) == revealed(try key.pkcs8()))
    }

    @Test("a private key that is cut, longer, of another form or with no point is refused")
    func badEncoding() throws {
        let good = revealed(try P256PrivateKey.generate().pkcs8())
        for count in [0, 1, 36, 137] { refusedKey(Array(good[..<count])) }
        refusedKey(good + [0])
        for index in [0, 2, 5, 20, 30, 35, 68, 72, 73, 80, 137] {
            var copy = good
            copy[index] ^= 1
            refusedKey(copy)
        }
        refusedKey(Array(good[..<36]) + [UInt8](repeating: 0, count: 32) + Array(good[68...]))
    }

    @Test("stock openssl takes the key and the signature, and finds a wrong one")
    func openssl() throws {
        let directory = try Scratch()
        let key = try P256PrivateKey.generate()
        try directory.write("key.der", revealed(try key.pkcs8()))
        try directory.write("message", Array("statement".utf8))
        try directory.write("wrong", Array("statemenu".utf8))
        let signature = try key.sign(Array("statement".utf8))
        try directory.write("signature", der(signature))
        let inspected = "openssl pkey -inform DER -in key.der -check -noout"
        #expect(directory.run(inspected) == 0)
        #expect(directory.run("openssl pkey -inform DER -in key.der -pubout -out pub.pem") == 0)
        let verify = "openssl dgst -sha256 -verify pub.pem -signature signature"
        #expect(directory.run("\(verify) message") == 0)
        #expect(directory.run("\(verify) wrong") != 0)
    }

    @Test("no configuration file is opened, whatever the environment says")
    func configuration() async {
        await #expect(processExitsWith: .success) {
            let directory = try Scratch()
            try directory.write("openssl.cnf", Array("openssl_conf = none\n".utf8))
            let path = directory.path + "/openssl.cnf"
            _ = unsafe setenv("OPENSSL_CONF", path, 1)
            let watch = inotify_init1(Int32(O_NONBLOCK | O_CLOEXEC))
            #expect(unsafe inotify_add_watch(watch, path, UInt32(IN_OPEN)) >= 0)
            _ = try P256PrivateKey.generate().sign([1])
            var event = [UInt8](repeating: 0, count: 512)
            #expect(unsafe read(watch, &event, event.count) == -1 && errno == EAGAIN)
            // The watch does report an opening.
            #expect(try directory.read("openssl.cnf").count == 20)
            #expect(unsafe read(watch, &event, event.count) > 0)
        }
    }

    @Test("a key made by stock openssl loads and signs")
    func opensslKey() throws {
        let directory = try Scratch()
        let make = """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -outform DER -out made
            """
        #expect(
            directory.run(
                "\(make) && openssl pkcs8 -topk8 -nocrypt -inform DER -in made"
                    + " -outform DER -out key.der") == 0)
        let key = try P256PrivateKey(pkcs8: try secret(directory.read("key.der")))
        let verifier = try P256PublicKey(point: key.publicPoint)
        #expect(try verifier.verifies(try key.sign([1]), message: [1]))
    }

    private func refusedKey(_ bytes: [UInt8]) {
        #expect(throws: CryptoFault.badPrivateKey) {
            try P256PrivateKey(pkcs8: try secret(bytes))
        }
    }

    private func der(_ signature: P256Signature) -> [UInt8] {
        func integer(_ number: [UInt8]) -> [UInt8] {
            var digits = Array(number.drop { $0 == 0 })
            if digits.isEmpty || digits[0] > 127 { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let body = integer(signature.r) + integer(signature.s)
        return [0x30, UInt8(body.count)] + body
    }
}
