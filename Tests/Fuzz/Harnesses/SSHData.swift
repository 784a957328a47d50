// SPDX-License-Identifier: Apache-2.0
import SSHProtocol
import SignedFormats

/// What ssh keys are asked to sign.
enum SSHData: Harness {
    static let name = "ssh-data"

    private static let key = SSHPublicKey(point: [4] + [UInt8](repeating: 7, count: 64)).map {
        SSHSecurityKey(key: $0, application: .standard)
    }

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func string(_ text: String) -> [UInt8] { string([UInt8](text.utf8)) }

    static var seeds: [[UInt8]] {
        let start = string([UInt8](repeating: 1, count: 32)) + [50] + string("alice")
        let middle =
            [1] + string("sk-ecdsa-sha2-nistp256@openssh.com") + string(key?.blob ?? [])
        let host = string(string("ssh-ed25519") + string([UInt8](repeating: 9, count: 32)))
        return [
            start + string("ssh-connection") + string("publickey") + middle,
            start + string("ssh-connection") + string("publickey-hostbound-v00@openssh.com")
                + middle + host,
            start + string("ssh-connection") + string("publickey") + [1]
                + string("ecdsa-sha2-nistp256") + string(key?.key.blob ?? []),
            [UInt8]("SSHSIG".utf8) + string("git") + string("") + string("sha512")
                + string([UInt8](repeating: 3, count: 64)),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        guard let key else { return }
        feed(bytes, by: .securityKey(key))
        feed(bytes, by: .agent(key.key))
    }

    private static func feed(_ bytes: [UInt8], by key: SSHSignerKey) {
        guard let signable = try? SSHSignable(bytes, by: key) else { return }
        require(signable.data == bytes, "other data are signed")
        let purpose = signable.content.purpose { _ in [] }
        require(!purpose.contains { $0 < 0x20 || $0 == 0x7F }, "a purpose has control characters")
        // What the client chose is one word.
        switch signable.content {
        case .authentication(let request):
            require(!request.user.contains(0x20), "a user of several words")
            require(request.keyBlob == key.blob, "another key's login is signed")
        case .signature(let signature):
            require(!signature.namespace.contains(0x20), "a namespace of several words")
        }
    }
}

/// The handles of ssh keys.
enum SSHHandles: Harness {
    static let name = "ssh-handles"
    static var seeds: [[UInt8]] { [[1] + [UInt8](repeating: 7, count: 36)] }

    static func feed(_ bytes: [UInt8]) {
        guard let handle = SSHKeyHandle(bytes) else { return }
        require(handle.bytes == bytes, "a handle has a second form")
    }
}
