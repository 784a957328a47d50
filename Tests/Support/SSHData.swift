// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// Builds what ssh and ssh-keygen ask keys to sign, and what deviates from it.
package enum SSHData {
    // The point is one of the right form; nothing here computes with it.
    package static let key = SSHSecurityKey(
        key: known(SSHPublicKey(point: [4] + [UInt8](repeating: 7, count: 64))),
        application: .standard)

    /// A string of RFC 4251, with its length, or with another one.
    package static func string(_ bytes: [UInt8], length: Int? = nil) -> [UInt8] {
        let length = UInt32(length ?? bytes.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> UInt32($0)) } + bytes
    }

    package static func string(_ text: String, length: Int? = nil) -> [UInt8] {
        string([UInt8](text.utf8), length: length)
    }

    /// A host key of the type Ed25519.
    package static let hostKey = string("ssh-ed25519") + string([UInt8](repeating: 9, count: 32))

    /// The parts of an authentication request, each of which can be another one.
    package struct Request {
        package var session = string([UInt8](repeating: 1, count: 32))
        package var message: [UInt8] = [50]
        package var user = string("alice")
        package var service = string("ssh-connection")
        package var method = string("publickey-hostbound-v00@openssh.com")
        package var isSigned: [UInt8] = [1]
        package var algorithm = string("sk-ecdsa-sha2-nistp256@openssh.com")
        package var keyBlob = string(key.blob)
        package var host = string(hostKey)
        package var rest: [UInt8] = []

        package var bytes: [UInt8] {
            session + message + user + service + method + isSigned + algorithm + keyBlob + host
                + rest
        }

        package init() {}

        /// The method without a host key.
        package static var unbound: Request {
            var request = Request()
            request.method = string("publickey")
            request.host = []
            return request
        }

        /// A request in which one part is another.
        package static func with(_ change: (inout Request) -> Void) -> [UInt8] {
            var request = Request()
            change(&request)
            return request.bytes
        }
    }

    /// The parts of what SSHSIG signs.
    package struct Signature {
        package var magic = [UInt8]("SSHSIG".utf8)
        package var namespace = string("git")
        package var reserved = string("")
        package var hash = string("sha512")
        package var digest = string([UInt8](repeating: 3, count: 64))
        package var rest: [UInt8] = []

        package var bytes: [UInt8] { magic + namespace + reserved + hash + digest + rest }

        package init() {}

        package static func with(_ change: (inout Signature) -> Void) -> [UInt8] {
            var signature = Signature()
            change(&signature)
            return signature.bytes
        }
    }
}
