// SPDX-License-Identifier: Apache-2.0
import Crypto
import SSHAgentProtocol
import SignedFormats

/// What programs say to the ssh agent, in a stream.
enum AgentStreams: Harness {
    static let name = "agent-streams"

    private static func string(_ bytes: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }

    private static func string(_ text: String) -> [UInt8] { string([UInt8](text.utf8)) }

    static var seeds: [[UInt8]] {
        let host = string("ssh-ed25519") + string([UInt8](repeating: 9, count: 32))
        let signature = string("ssh-ed25519") + string([UInt8](repeating: 1, count: 64))
        let binding =
            string("session-bind@openssh.com") + string(host)
            + string([UInt8](repeating: 1, count: 32)) + string(signature) + [0]
        return [
            string([11]), string([13] + string("key") + string("data") + [0, 0, 0, 2]),
            string([17] + string("ssh-ed25519")), string([18] + string("key")), string([19]),
            string([22] + string("x")) + string([23] + string("x")),
            string([27] + string("query")), string([27] + binding), string([27] + string("a@b")),
        ]
    }

    static func feed(_ bytes: [UInt8]) {
        var frames = AgentFrames()
        frames.append(bytes)
        var taken = 0
        while let message = try? frames.next() {
            taken += 4 + message.count
            require((1...AgentLimit.message).contains(message.count), "a message above the limit")
            feed(message: message)
        }
        require(taken <= bytes.count, "more was taken than had come")
    }

    private static func feed(message: [UInt8]) {
        _ = AgentRequest.meantToBind(message)
        if let keys = try? AgentAnswer.identities(parsing: message) {
            require(
                AgentAnswer.identities(keys).message == message, "a list of keys has a second form")
        }
        guard let request = try? AgentRequest(parsing: message) else { return }
        guard case .bind(let binding) = request else { return }
        require(binding.sessionID.count <= AgentLimit.sessionID, "a session id above the limit")
        require(AgentRequest.meantToBind(message), "a binding that does not mean to bind")
    }
}

/// Host keys with signatures over a session id, as a binding has them.
enum HostSignatures: Harness {
    static let name = "host-signatures"

    private static let session = [UInt8](repeating: 1, count: 32)

    static var seeds: [[UInt8]] {
        [
            [0] + [UInt8](repeating: 9, count: 32) + [UInt8](repeating: 1, count: 64),
            [1, 4] + [UInt8](repeating: 7, count: 64) + [UInt8](repeating: 1, count: 64),
            [2] + [UInt8](repeating: 0x85, count: 128) + [UInt8](repeating: 1, count: 128),
        ]
    }

    /// Both parts are the fuzzer's: with the names around them, which it would have to guess.
    static func feed(_ bytes: [UInt8]) {
        guard let kind = bytes.first else { return }
        let (first, second) = (
            [UInt8](bytes.dropFirst().prefix((bytes.count - 1) / 2)),
            [UInt8](bytes.dropFirst(1 + (bytes.count - 1) / 2))
        )
        var key = SSHWriter()
        var signature = SSHWriter()
        switch kind % 3 {
        case 0:
            key.put([UInt8]("ssh-ed25519".utf8))
            signature.put([UInt8]("ssh-ed25519".utf8))
        case 1:
            key.put([UInt8]("ecdsa-sha2-nistp256".utf8))
            key.put([UInt8]("nistp256".utf8))
            signature.put([UInt8]("ecdsa-sha2-nistp256".utf8))
        default:
            key.put([UInt8]("ssh-rsa".utf8))
            key.put([1, 0, 1])
            signature.put([UInt8]("rsa-sha2-512".utf8))
        }
        key.put(first)
        signature.put(second)
        guard let host = try? SSHHostKey(blob: key.bytes), let parsed = try? HostPublicKey(host),
            let claimed = try? HostSignature(signature.bytes, for: parsed)
        else { return }
        let isVerified = (try? parsed.verifies(claimed, over: session)) ?? false
        require(!isVerified, "a signature was forged")
    }
}
