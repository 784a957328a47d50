// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

@Suite("What an ssh key signs")
struct SSHSignedDataTests {
    private func signable(_ data: [UInt8]) throws(SSHSignable.Fault) -> SSHSignable {
        try SSHSignable(data, by: .securityKey(SSHData.key))
    }

    private func purpose(_ data: [UInt8]) throws -> String {
        let content = try signable(data).content
        return String(decoding: content.purpose { _ in [UInt8]("SHA256:x".utf8) }, as: UTF8.self)
    }

    private func isRefused(_ data: [UInt8]) -> Bool { (try? signable(data)) == nil }

    @Test("a login is named by its user and the server's host key")
    func named() throws {
        #expect(try purpose(SSHData.Request().bytes) == "ssh alice (host key SHA256:x)")
        #expect(
            try purpose(SSHData.Request.unbound.bytes) == "ssh alice (host key not stated)")
        #expect(try signable(SSHData.Request().bytes).data == SSHData.Request().bytes)
    }

    @Test("an SSHSIG is named by its namespace", arguments: [("sha512", 64), ("sha256", 32)])
    func namespace(hash: String, length: Int) throws {
        let data = SSHData.Signature.with {
            $0.hash = SSHData.string(hash)
            $0.digest = SSHData.string([UInt8](repeating: 3, count: length))
        }
        #expect(try purpose(data) == "ssh signature: namespace git")
    }

    @Test(
        "session ids have the length of a hash", arguments: [0, 1, 19, 20, 31, 32, 48, 63, 64, 65])
    func session(length: Int) {
        let data = SSHData.Request.with {
            $0.session = SSHData.string([UInt8](repeating: 1, count: length))
        }
        #expect(isRefused(data) == ![20, 32, 48, 64].contains(length))
    }

    private static let whole = [
        SSHData.Request().bytes, SSHData.Request.unbound.bytes, SSHData.Signature().bytes,
    ]

    @Test("is refused at every truncation, and with anything behind it", arguments: 0..<3)
    func truncated(index: Int) {
        let data = Self.whole[index]
        for length in 0..<data.count { #expect(isRefused([UInt8](data.prefix(length)))) }
        for rest in 0...255 { #expect(isRefused(data + [UInt8(rest)])) }
    }

    /// Where the length of each string in the data begins.
    private func lengths(of data: [UInt8], from start: Int, singles: Set<Int>) -> [Int] {
        var (places, place, index) = ([Int](), start, 0)
        while place + 4 <= data.count {
            if singles.contains(index) {
                place += 1
            } else {
                places.append(place)
                place += 4 + data[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            }
            index += 1
        }
        return places
    }

    @Test("is refused with any altered length", arguments: 0..<3)
    func alteredLengths(index: Int) throws {
        let data = Self.whole[index]
        // The byte 50 and TRUE stand between the strings of a request; the magic before those of
        // SSHSIG.
        let places =
            index == 2
            ? lengths(of: data, from: 6, singles: [])
            : lengths(of: data, from: 0, singles: [1, 5])
        #expect(places.count == [7, 6, 4][index])
        for place in places {
            for altered in [0, 1, 0x7F, 0x80, 0xFF] {
                for byte in 0..<4 where data[place + byte] != UInt8(altered) {
                    var other = data
                    other[place + byte] = UInt8(altered)
                    #expect(isRefused(other), "\(place + byte): \(altered)")
                }
            }
            for step in [-1, 1] {
                var other = data
                other[place + 3] = UInt8(truncatingIfNeeded: Int(other[place + 3]) + step)
                #expect(isRefused(other), "\(place): \(step)")
            }
        }
    }

    @Test("another service, message, method or algorithm, and a question, are refused")
    func otherForms() {
        for service in ["ssh-userauth", "ssh-connection ", "ssh-connectio", "", "SSH-CONNECTION"] {
            #expect(isRefused(SSHData.Request.with { $0.service = SSHData.string(service) }))
        }
        for message in [0, 1, 49, 51, 60, 255] as [UInt8] {
            #expect(isRefused(SSHData.Request.with { $0.message = [message] }))
        }
        for isSigned in [0, 2, 255] as [UInt8] {
            #expect(isRefused(SSHData.Request.with { $0.isSigned = [isSigned] }))
        }
        for method in ["hostbased", "password", "none", "", "publickey-hostbound-v01@openssh.com"] {
            #expect(isRefused(SSHData.Request.with { $0.method = SSHData.string(method) }))
        }
        for algorithm in [
            "ecdsa-sha2-nistp256", "webauthn-sk-ecdsa-sha2-nistp256@openssh.com", "",
            "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", "ssh-ed25519",
        ] {
            #expect(isRefused(SSHData.Request.with { $0.algorithm = SSHData.string(algorithm) }))
        }
        // The host key belongs to one method alone.
        #expect(isRefused(SSHData.Request.with { $0.method = SSHData.string("publickey") }))
        #expect(isRefused(SSHData.Request.with { $0.host = [] }))
    }

    @Test("a key of one kind signs no login of the other, though the point is the same")
    func kinds() throws {
        let agent = SSHSignerKey.agent(SSHData.key.key)
        let plain = SSHData.Request.with {
            $0.algorithm = SSHData.string("ecdsa-sha2-nistp256")
            $0.keyBlob = SSHData.string(SSHData.key.key.blob)
        }
        guard case .authentication(let request) = try SSHSignable(plain, by: agent).content else {
            throw TestFault.noFixture("a login")
        }
        #expect(request.sessionID == [UInt8](repeating: 1, count: 32))
        #expect(throws: SSHSignable.Fault.form(.unsupported)) { try signable(plain) }
        #expect(throws: SSHSignable.Fault.form(.unsupported)) {
            try SSHSignable(SSHData.Request().bytes, by: agent)
        }
        // The algorithm of one kind with the key of the other.
        let mixed = SSHData.Request.with { $0.algorithm = SSHData.string("ecdsa-sha2-nistp256") }
        #expect(throws: SSHSignable.Fault.otherKey) { try SSHSignable(mixed, by: agent) }
        let crossed = SSHData.Request.with { $0.keyBlob = SSHData.string(SSHData.key.key.blob) }
        #expect(throws: SSHSignable.Fault.otherKey) { try signable(crossed) }
        #expect(SSHSignerKey(key: SSHData.key.key, application: .agent) == agent)
        #expect(SSHApplication(SSHApplication.agent.bytes) == nil)
    }

    /// A user certificate, or one of another use, for an sk key of this point.
    private func certificate(_ key: SSHSecurityKey, use: UInt8 = 1) -> [UInt8] {
        let name = SSHData.string("sk-ecdsa-sha2-nistp256@openssh.com")
        return SSHData.string(Self.certificateAlgorithm)
            + SSHData.string([UInt8](repeating: 5, count: 32)) + key.blob.dropFirst(name.count)
            + [UInt8](repeating: 0, count: 11) + [use] + SSHData.string("id")
            + SSHData.string(SSHData.string("alice")) + [UInt8](repeating: 0, count: 16)
            + SSHData.string("") + SSHData.string("") + SSHData.string("")
            + SSHData.string(SSHData.hostKey) + SSHData.string("signature")
    }

    private static let certificateAlgorithm = "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com"

    private func certified(_ blob: [UInt8], algorithm: String = certificateAlgorithm) -> [UInt8] {
        SSHData.Request.with {
            $0.algorithm = SSHData.string(algorithm)
            $0.keyBlob = SSHData.string(blob)
        }
    }

    @Test("a login with a certificate is one with the key in it")
    func certificate() throws {
        let blob = certificate(SSHData.key)
        let data = certified(blob)
        #expect(try purpose(data) == "ssh alice (host key SHA256:x)")
        guard case .authentication(let request) = try signable(data).content else {
            throw TestFault.noFixture("a login")
        }
        #expect(request.keyBlob == SSHData.key.blob)
        for length in 0..<blob.count { #expect(isRefused(certified([UInt8](blob.prefix(length))))) }
        #expect(isRefused(certified(blob + [0])))
    }

    @Test("certificates of hosts, for other keys and under other algorithms are refused")
    func otherCertificates() throws {
        let point = [4] + [UInt8](repeating: 8, count: 64)
        let other = SSHSecurityKey(
            key: try #require(SSHPublicKey(point: point)), application: .standard)
        #expect(throws: SSHSignable.Fault.otherKey) { try signable(certified(certificate(other))) }
        for use in [0, 2, 3] as [UInt8] {
            #expect(throws: SSHSignable.Fault.form(.unsupported)) {
                try signable(certified(certificate(SSHData.key, use: use)))
            }
        }
        // The algorithm of the one with the blob of the other.
        #expect(throws: SSHSignable.Fault.form(.unsupported)) {
            try signable(certified(SSHData.key.blob))
        }
        #expect(throws: SSHSignable.Fault.otherKey) {
            try signable(
                certified(
                    certificate(SSHData.key), algorithm: "sk-ecdsa-sha2-nistp256@openssh.com"))
        }
        #expect(throws: SSHSignable.Fault.form(.unsupported)) {
            try SSHSignable(certified(certificate(SSHData.key)), by: .agent(SSHData.key.key))
        }
    }

    @Test("a request with another key is refused, and said to be one")
    func otherKey() throws {
        let point = [4] + [UInt8](repeating: 8, count: 64)
        let other = SSHSecurityKey(
            key: try #require(SSHPublicKey(point: point)), application: .standard)
        let application = try #require(SSHApplication([UInt8]("ssh:work".utf8)))
        let elsewhere = SSHSecurityKey(key: SSHData.key.key, application: application)
        for blob in [other.blob, elsewhere.blob, SSHData.key.key.blob, []] {
            let data = SSHData.Request.with { $0.keyBlob = SSHData.string(blob) }
            #expect(throws: SSHSignable.Fault.otherKey) { try signable(data) }
        }
        #expect(throws: SSHSignable.Fault.otherKey) {
            try SSHSignable(SSHData.Request().bytes, by: .securityKey(other))
        }
    }

    @Test(
        "what cannot be shown as one word is refused",
        arguments: [
            "", "a b", "alice (host key SHA256:y)", "a\n", "\t", "a\u{7F}", "\0",
            String(repeating: "a", count: 256),
        ])
    func words(word: String) {
        #expect(isRefused(SSHData.Request.with { $0.user = SSHData.string(word) }))
        #expect(isRefused(SSHData.Signature.with { $0.namespace = SSHData.string(word) }))
    }

    @Test("another hash, digest, magic or reserved field, and Signet's namespaces, are refused")
    func otherSignatures() {
        for hash in ["sha1", "SHA512", "sha384", "", "md5"] {
            #expect(isRefused(SSHData.Signature.with { $0.hash = SSHData.string(hash) }))
        }
        for length in [0, 20, 32, 63, 65] {
            #expect(
                isRefused(
                    SSHData.Signature.with {
                        $0.digest = SSHData.string([UInt8](repeating: 3, count: length))
                    }))
        }
        #expect(isRefused(SSHData.Signature.with { $0.hash = SSHData.string("sha256") }))
        #expect(isRefused(SSHData.Signature.with { $0.reserved = SSHData.string("x") }))
        #expect(isRefused(SSHData.Signature.with { $0.magic = [UInt8]("SSHSIX".utf8) }))
        for namespace in ["login@signet", "file@signet", "@signet"] {
            #expect(
                isRefused(SSHData.Signature.with { $0.namespace = SSHData.string(namespace) }))
        }
    }

    @Test("more than the longest data are refused unread")
    func tooLong() {
        let data = SSHData.Request.with {
            $0.host = SSHData.string([UInt8](repeating: 0, count: SSHSignedData.longest))
        }
        #expect(throws: SSHSignable.Fault.form(.tooLong)) { try signable(data) }
    }

    @Test("applications begin with ssh: and are visible ASCII")
    func applications() {
        for text in ["ssh:", "ssh:work", "ssh:a@b"] {
            #expect(SSHApplication([UInt8](text.utf8))?.bytes == [UInt8](text.utf8))
        }
        let long = "ssh:" + String(repeating: "a", count: 125)
        for text in ["", "ssh", "SSH:", "web:", "ssh:a b", "ssh:\n", "ssh:é", "ssh:\u{7F}", long] {
            #expect(SSHApplication([UInt8](text.utf8)) == nil)
        }
    }
}
