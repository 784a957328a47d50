// SPDX-License-Identifier: Apache-2.0
import SignedFormats

// What is said on an ssh agent's socket; RFC 9987, and OpenSSH's PROTOCOL.agent for its extensions.

/// Limits of what crosses an agent's socket; those of OpenSSH's ssh-agent.
package enum AgentLimit {
    /// The maximum length of a message in bytes, without the length before it.
    package static let message = 262_144
    /// The maximum number of sessions that a connection is bound to.
    package static let sessions = 16
    /// The maximum length of a session id in bytes.
    package static let sessionID = 128
    /// The maximum length of the passphrase of a lock in bytes.
    package static let passphrase = 1_024
    /// The maximum number of keys in a list.
    package static let keys = 2_048
    /// The maximum length of an extension's name in bytes.
    package static let extensionName = 255
}

/// The numbers of messages; RFC 9987, section 6.1.
enum AgentNumber {
    static let failure: UInt8 = 5
    static let success: UInt8 = 6
    static let requestIdentities: UInt8 = 11
    static let identities: UInt8 = 12
    static let sign: UInt8 = 13
    static let signature: UInt8 = 14
    static let addIdentity: UInt8 = 17
    static let removeIdentity: UInt8 = 18
    static let removeAll: UInt8 = 19
    static let addToken: UInt8 = 20
    static let removeToken: UInt8 = 21
    static let lock: UInt8 = 22
    static let unlock: UInt8 = 23
    static let addConstrained: UInt8 = 25
    static let addTokenConstrained: UInt8 = 26
    static let `extension`: UInt8 = 27
    static let extensionFailure: UInt8 = 28
    static let extensionResponse: UInt8 = 29
}

/// A request of an agent's client.
///
/// Requests about keys that the agent cannot hold are known by their kind alone: their contents are
/// another agent's business.
package enum AgentRequest: Equatable, Sendable {
    /// Asks for the list of keys.
    case identities
    /// Asks for a signature.
    case sign(AgentSigning)
    /// Gives the agent a private key, or a token's keys, with or without constraints.
    case add
    /// Takes a key out of the agent.
    case remove(keyBlob: [UInt8])
    /// Takes all keys out of the agent.
    case removeAll
    /// Takes a token's keys out of the agent.
    case removeToken
    /// Locks the agent with a passphrase.
    case lock(passphrase: [UInt8])
    /// Unlocks it.
    case unlock(passphrase: [UInt8])
    /// Binds the connection to a session: `session-bind@openssh.com`.
    case bind(SessionBinding)
    /// Asks which extensions the agent has; RFC 9987, section 5.8.
    case query
    /// Asks whether the way to other agents leads back here: `loop-check@signet`.
    case loopCheck(AgentLoopToken)
    /// Another extension.
    case otherExtension(name: [UInt8])
    /// A number that is no request.
    case unknown(UInt8)

    /// The names of the extensions that are understood here.
    package static var extensions: [StaticString] { [queryName, sessionBindName] }
    /// The message that asks for the list of keys.
    package static let listMessage: [UInt8] = [AgentNumber.requestIdentities]
    private static let queryName: StaticString = "query"
    private static let sessionBindName: StaticString = "session-bind@openssh.com"

    /// Parses a message, without the length before it; throws unless it is exactly one.
    package init(parsing message: [UInt8]) throws(SSHFault) {
        guard message.count <= AgentLimit.message else { throw .tooLong }
        var reader = SSHReader(message)
        let number = try reader.byte()
        switch number {
        case AgentNumber.requestIdentities: self = .identities
        case AgentNumber.sign: self = .sign(try AgentSigning(from: &reader))
        case AgentNumber.addIdentity, AgentNumber.addConstrained, AgentNumber.addToken,
            AgentNumber.addTokenConstrained:
            self = .add
            return
        case AgentNumber.removeIdentity:
            self = .remove(keyBlob: try reader.string(cap: AgentLimit.message))
        case AgentNumber.removeAll: self = .removeAll
        case AgentNumber.removeToken:
            self = .removeToken
            return
        case AgentNumber.lock:
            self = .lock(passphrase: try reader.string(cap: AgentLimit.passphrase))
        case AgentNumber.unlock:
            self = .unlock(passphrase: try reader.string(cap: AgentLimit.passphrase))
        case AgentNumber.extension:
            self = try Self.extension(from: &reader)
            if case .otherExtension = self { return }
        default:
            self = .unknown(number)
            return
        }
        try reader.end()
    }

    private static func `extension`(
        from reader: inout SSHReader
    ) throws(SSHFault) -> AgentRequest {
        let name = try reader.string(cap: AgentLimit.extensionName)
        if queryName.isSpelled(by: name[...]) { return .query }
        if sessionBindName.isSpelled(by: name[...]) {
            return .bind(try SessionBinding(from: &reader))
        }
        if AgentLoopToken.name.isSpelled(by: name[...]) {
            return .loopCheck(try AgentLoopToken(from: &reader))
        }
        return .otherExtension(name: name)
    }

    /// Whether a message that could not be parsed would have bound the connection to a session.
    package static func meantToBind(_ message: [UInt8]) -> Bool {
        var reader = SSHReader(message)
        guard let number = try? reader.byte(), number == AgentNumber.extension,
            let name = try? reader.string(cap: AgentLimit.extensionName)
        else { return false }
        return sessionBindName.isSpelled(by: name[...])
    }
}

/// A request for a signature; RFC 9987, section 5.6.
package struct AgentSigning: Equatable, Sendable {
    /// The blob of the key that is to sign.
    package let keyBlob: [UInt8]
    /// What is to be signed, byte for byte.
    package let data: [UInt8]
    /// Flags that choose the hash of RSA signatures.
    package let flags: UInt32

    init(from reader: inout SSHReader) throws(SSHFault) {
        keyBlob = try reader.string(cap: AgentLimit.message)
        data = try reader.string(cap: AgentLimit.message)
        flags = try reader.number()
    }
}

/// A key in an agent's list.
package struct AgentIdentity: Equatable, Sendable {
    /// The key's blob.
    package let keyBlob: [UInt8]
    /// Its comment.
    package let comment: [UInt8]

    /// Creates an entry.
    package init(keyBlob: [UInt8], comment: [UInt8]) {
        self.keyBlob = keyBlob
        self.comment = comment
    }
}

/// An answer of an agent.
package enum AgentAnswer: Equatable, Sendable {
    /// The request was refused, or is not known.
    case failure
    /// It was carried out.
    case success
    /// The list of keys.
    case identities([AgentIdentity])
    /// A signature by an `ecdsa-sha2-nistp256` key: r and s, 32 bytes each, big-endian.
    case signature(r: [UInt8], s: [UInt8])
    /// An extension has failed.
    case extensionFailure
    /// The names of the extensions that are understood.
    case extensions

    /// The message, without the length before it.
    package var message: [UInt8] {
        var writer = SSHWriter()
        switch self {
        case .failure: writer.put(raw: [AgentNumber.failure])
        case .success: writer.put(raw: [AgentNumber.success])
        case .extensionFailure: writer.put(raw: [AgentNumber.extensionFailure])
        case .identities(let keys):
            writer.put(raw: [AgentNumber.identities])
            writer.put(number: UInt32(truncatingIfNeeded: keys.count))
            for key in keys {
                writer.put(key.keyBlob)
                writer.put(key.comment)
            }
        case .signature(let r, let s):
            var numbers = SSHWriter()
            numbers.put(unsigned: r)
            numbers.put(unsigned: s)
            var signature = SSHWriter()
            signature.put(SSHPublicKey.algorithm.bytes)
            signature.put(numbers.bytes)
            writer.put(raw: [AgentNumber.signature])
            writer.put(signature.bytes)
        case .extensions:
            writer.put(raw: [AgentNumber.extensionResponse])
            writer.put(StaticString("query").bytes)
            for name in AgentRequest.extensions { writer.put(name.bytes) }
        }
        return writer.bytes
    }

    /// Parses another agent's list of keys; throws unless the message is exactly one.
    package static func identities(
        parsing message: [UInt8]
    ) throws(SSHFault) -> [AgentIdentity] {
        guard message.count <= AgentLimit.message else { throw .tooLong }
        var reader = SSHReader(message)
        guard try reader.byte() == AgentNumber.identities else { throw .unsupported }
        let count = Int(try reader.number())
        guard count <= AgentLimit.keys else { throw .tooLong }
        var keys: [AgentIdentity] = []
        for _ in 0..<count {
            keys.append(
                AgentIdentity(
                    keyBlob: try reader.string(cap: AgentLimit.message),
                    comment: try reader.string(cap: AgentLimit.message)))
        }
        try reader.end()
        return keys
    }

    /// Whether another agent's message says that it has carried a request out.
    package static func isSuccess(_ message: [UInt8]) -> Bool {
        message == [AgentNumber.success]
    }
}
