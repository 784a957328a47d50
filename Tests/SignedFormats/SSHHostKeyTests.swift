// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

@Suite("Host keys")
struct SSHHostKeyTests {
    /// Each type with the number of strings in a key.
    private static let types: [(name: String, certificate: String, fields: Int)] = [
        ("ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com", 1),
        ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256-cert-v01@openssh.com", 2),
        ("ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384-cert-v01@openssh.com", 2),
        ("ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521-cert-v01@openssh.com", 2),
        ("ssh-rsa", "ssh-rsa-cert-v01@openssh.com", 2),
        ("sk-ssh-ed25519@openssh.com", "sk-ssh-ed25519-cert-v01@openssh.com", 2),
        ("sk-ecdsa-sha2-nistp256@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com", 3),
    ]

    private func fields(_ count: Int) -> [UInt8] {
        (0..<count).flatMap { SSHData.string([UInt8($0 + 1), 2]) }
    }

    private func certificate(
        _ index: Int, kind: UInt8 = 2, rest: [UInt8] = []
    ) -> [UInt8] {
        let type = Self.types[index]
        let start =
            SSHData.string(type.certificate) + SSHData.string([UInt8](repeating: 5, count: 32))
        let middle = [UInt8](repeating: 0, count: 11) + [kind] + SSHData.string("id")
        let end =
            SSHData.string(SSHData.string("host")) + [UInt8](repeating: 0, count: 16)
            + SSHData.string("") + SSHData.string("") + SSHData.string("")
            + SSHData.string(SSHData.hostKey) + SSHData.string("signature")
        return start + fields(type.fields) + middle + end + rest
    }

    @Test("a key is taken as it is, and a certificate as the key in it", arguments: 0..<7)
    func plain(index: Int) throws {
        let type = Self.types[index]
        let key = SSHData.string(type.name) + fields(type.fields)
        #expect(try SSHHostKey(blob: key).plain == key)
        #expect(try SSHHostKey(blob: certificate(index)).plain == key)
    }

    @Test("is refused at every truncation, and with anything behind it", arguments: 0..<7)
    func truncated(index: Int) {
        let key = SSHData.string(Self.types[index].name) + fields(Self.types[index].fields)
        for blob in [key, certificate(index)] {
            for length in 0..<blob.count {
                #expect(throws: SSHFault.self) {
                    try SSHHostKey(blob: [UInt8](blob.prefix(length)))
                }
            }
            #expect(throws: SSHFault.trailing) { try SSHHostKey(blob: blob + [0]) }
        }
    }

    @Test("certificates of users, other types and empty fields are refused")
    func others() {
        #expect(throws: SSHFault.unsupported) { try SSHHostKey(blob: certificate(0, kind: 1)) }
        for name in ["ssh-dss", "", "ssh-ed25519 ", "ssh-ed448", "x509v3-ssh-rsa"] {
            #expect(throws: SSHFault.unsupported) {
                try SSHHostKey(blob: SSHData.string(name) + fields(2))
            }
        }
        #expect(throws: SSHFault.malformed) {
            try SSHHostKey(blob: SSHData.string("ssh-ed25519") + SSHData.string(""))
        }
        #expect(throws: SSHFault.tooLong) {
            try SSHHostKey(blob: [UInt8](repeating: 0, count: SSHHostKey.longest + 1))
        }
    }
}
