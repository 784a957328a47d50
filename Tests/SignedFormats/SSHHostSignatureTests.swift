// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

@Suite("A host's key and signature")
struct SSHHostSignatureTests {
    private func key(_ blob: [UInt8]) throws -> HostPublicKey {
        try HostPublicKey(SSHHostKey(blob: blob))
    }

    private static let point = [4] + [UInt8](repeating: 7, count: 64)
    private static let ecdsa =
        SSHData.string("ecdsa-sha2-nistp256") + SSHData.string("nistp256") + SSHData.string(point)
    private static let modulus = [0x80] + [UInt8](repeating: 5, count: 255)
    private static let rsa =
        SSHData.string("ssh-rsa") + SSHData.string([1, 0, 1]) + SSHData.string([0] + modulus)

    @Test("keys of the three kinds are read")
    func keys() throws {
        #expect(try key(SSHData.hostKey) == .ed25519([UInt8](repeating: 9, count: 32)))
        #expect(try key(Self.ecdsa) == .ecdsa(.p256, point: Self.point))
        #expect(try key(Self.rsa) == .rsa(modulus: Self.modulus, exponent: [1, 0, 1]))
    }

    @Test("keys of another length, curve or kind are refused")
    func otherKeys() {
        let name = SSHData.string("ssh-ed25519")
        let sk = SSHData.string("sk-ssh-ed25519@openssh.com") + SSHData.string([1])
        for blob in [
            name + SSHData.string([UInt8](repeating: 9, count: 31)),
            name + SSHData.string([UInt8](repeating: 9, count: 33)),
            SSHData.string("ecdsa-sha2-nistp256") + SSHData.string("nistp384")
                + SSHData.string(Self.point),
            SSHData.string("ecdsa-sha2-nistp256") + SSHData.string("nistp256")
                + SSHData.string([2] + [UInt8](repeating: 7, count: 32)),
            SSHData.string("ecdsa-sha2-nistp384") + SSHData.string("nistp384")
                + SSHData.string(Self.point),
            SSHData.string("ssh-rsa") + SSHData.string([1, 0, 1])
                + SSHData.string([UInt8](repeating: 5, count: 127)),
            SSHData.string("ssh-rsa") + SSHData.string([0x81]) + SSHData.string(Self.modulus),
            sk + SSHData.string("ssh:"),
        ] {
            #expect(throws: SSHFault.self) { try key(blob) }
        }
    }

    @Test("a signature is read for the key's own algorithm alone, and to its end")
    func signatures() throws {
        let ed = try key(SSHData.hostKey)
        let good = SSHData.string("ssh-ed25519") + SSHData.string([UInt8](repeating: 1, count: 64))
        #expect(try HostSignature(good, for: ed) == .ed25519([UInt8](repeating: 1, count: 64)))
        let numbers = SSHData.string([1]) + SSHData.string([2])
        let pair = SSHData.string("ecdsa-sha2-nistp256") + SSHData.string(numbers)
        let curve = try key(Self.ecdsa)
        guard case .ecdsa(let r, let s) = try HostSignature(pair, for: curve) else {
            throw TestFault.noFixture("a pair")
        }
        #expect(r.count == 32 && r.last == 1 && s.count == 32 && s.last == 2)
        let rsa = try key(Self.rsa)
        for (name, hash) in [
            ("rsa-sha2-256", HostSignature.RSAHash.sha256), ("rsa-sha2-512", .sha512),
        ] {
            let blob = SSHData.string(name) + SSHData.string([1, 2])
            #expect(try HostSignature(blob, for: rsa) == .rsa(hash, [1, 2]))
        }
        for (blob, key) in [(good, ed), (pair, curve)] {
            for length in 0..<blob.count {
                #expect(throws: SSHFault.self) {
                    try HostSignature([UInt8](blob.prefix(length)), for: key)
                }
            }
            #expect(throws: SSHFault.trailing) { try HostSignature(blob + [0], for: key) }
            #expect(throws: SSHFault.self) { try HostSignature(blob, for: rsa) }
        }
        // SHA-1 is not accepted, nor are numbers in a longer form.
        for blob in [
            SSHData.string("ssh-rsa") + SSHData.string([1, 2]),
            SSHData.string("rsa-sha2-512") + SSHData.string([]),
            SSHData.string("rsa-sha2-512") + SSHData.string([UInt8](repeating: 1, count: 257)),
        ] {
            #expect(throws: SSHFault.self) { try HostSignature(blob, for: rsa) }
        }
        let long = SSHData.string([0, 1]) + SSHData.string([2])
        #expect(throws: SSHFault.self) {
            try HostSignature(
                SSHData.string("ecdsa-sha2-nistp256") + SSHData.string(long), for: curve)
        }
    }
}
