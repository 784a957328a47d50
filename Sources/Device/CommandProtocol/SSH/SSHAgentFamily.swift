// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats

// The requests about the ssh keys that `signet-agent` offers to programs without support for security
// keys: plain `ecdsa-sha2-nistp256` keys.

/// Makes a key for the agent after a touch; ends with `sshAgentKeyMade`.
package struct SSHAgentCreateRequest: AccountRequest {
    package static let verb = Verb(80, name: "sshAgentCreate")
    // Not even root may: the key signs in the account's name, and its owner is to know of it.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "ssh"

    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The key's name; nil to have the daemon choose one.
    package var name: SSHKeyName? = nil  // .sshKeyName

    package var context: RequestContext { RequestContext(purpose: purpose) }

    /// What the touch is for, for receipts and the journal.
    package var purpose: Bytes {
        let words = Bytes("make an ssh key for the agent".utf8)
        guard let name else { return words }
        return words + Bytes(", ".utf8) + name.bytes
    }
}

/// Signs with one of the agent's keys after a touch; ends with `sshAgentSignature`.
///
/// What the agent says of the session and of the program that asks is shown as its word, and decides
/// nothing: it is a process of the user's own.
package struct SSHAgentSignRequest: AccountRequest {
    package static let verb = Verb(81, name: "sshAgentSign")
    // Not even root may, because a server takes the signature for the account's owner.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "ssh"

    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The key.
    package var key: SSHKeyID  // .sshKeyID
    /// What is to be signed, byte for byte; the daemon signs only what it can name.
    package var data: Bytes  // .sshData
    /// The program that asks the agent, and those that started it.
    package var programs: SSHAgentPrograms  // .sshPrograms
    /// The hosts over which the request has come, from this machine outwards.
    package var forwarders: SSHHosts  // .sshForwarders
    /// The host whose session the agent has verified; none if it knows of no session.
    package var host: SSHHosts  // .sshSessionHost

    /// Where the request is refused before its purpose is known; see `Client.purpose` in the daemon.
    package var context: RequestContext {
        RequestContext(purpose: Bytes("sign for ssh".utf8))
    }
}

/// The names of up to three programs, from the one that asks upwards.
package struct SSHAgentPrograms: FieldValue, Equatable, Sendable {
    /// The maximum number of names.
    package static let most = 3
    /// The maximum length of a name in bytes; that of comm in proc(5).
    package static let longest = 15

    /// The names, without control characters and spaces.
    package let names: [Bytes]

    /// Takes names as programs have them: at most three, each cut, with `?` for what is not visible.
    package init(_ names: [Bytes]) {
        self.names = names.prefix(Self.most).map { name in
            name.isEmpty
                ? Bytes("?".utf8)
                : name.prefix(Self.longest).map { $0 <= 0x20 || $0 == 0x7F ? 0x3F : $0 }
        }
    }

    /// The names with NUL between them.
    package var bytes: Bytes { Bytes(names.joined(separator: [0])) }

    /// Reads what `bytes` writes; nil for anything else.
    package init?(bytes: Bytes) {
        guard !bytes.isEmpty else {
            self.init([])
            return
        }
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false).map { Bytes($0) }
        self.init(parts)
        guard names == parts else { return nil }
    }
}

/// Hosts in an order, as SHA-256 digests of their keys.
package struct SSHHosts: FieldValue, Equatable, Sendable {
    /// The maximum number of hosts.
    package static let most = 16
    private static let width = 32

    /// The digests, 32 bytes each.
    package let digests: [Bytes]

    /// Wraps digests; nil unless there are at most 16 of 32 bytes each.
    package init?(_ digests: [Bytes]) {
        guard digests.count <= Self.most, digests.allSatisfy({ $0.count == Self.width }) else {
            return nil
        }
        self.digests = digests
    }

    /// The digests, one after another.
    package var bytes: Bytes { Bytes(digests.joined()) }

    /// Reads what `bytes` writes; nil for another length.
    package init?(bytes: Bytes) {
        guard bytes.count.isMultiple(of: Self.width) else { return nil }
        self.init(
            stride(from: 0, to: bytes.count, by: Self.width).map {
                Bytes(bytes[$0..<$0 + Self.width])
            })
    }
}

/// Lists an account's keys for the agent: `sshAgentKey` for each, then `sshKeyCount`.
package struct SSHAgentListRequest: AccountRequest {
    package static let verb = Verb(82, name: "sshAgentList")
    package static let rule = VerbRule(.rootOrAccount)
    package static let logging = DecisionLogging.denials

    package var account: AccountName
}

/// One of the agent's keys, without its private half.
package struct SSHAgentKeyContent: FrameContent {
    /// When it was made, in seconds since 1970.
    package var since: UInt64
    /// The vault that opens it.
    package var vault: Bytes
    /// The public key.
    package var publicKey: PublicKeyPoint
    /// Its id.
    package var identifier: SSHKeyID  // .sshKeyID
    /// Its name.
    package var name: SSHKeyName  // .sshKeyName
    /// Whether it can be used.
    package var state: SSHKeyState  // .sshKeyState
}

/// The new key; ends `sshAgentCreate`.
package struct SSHAgentKeyMadeAnswer: DaemonAnswer {
    package static let kind = AnswerKind(190, name: "sshAgentKeyMade")
    package static let meaning = AnswerMeaning.end

    package var content: SSHAgentKeyContent

    package init(_ content: SSHAgentKeyContent) { self.content = content }
}

/// One key of a list.
package struct SSHAgentKeyAnswer: DaemonAnswer {
    package static let kind = AnswerKind(191, name: "sshAgentKey")

    package var content: SSHAgentKeyContent

    package init(_ content: SSHAgentKeyContent) { self.content = content }
}

/// A signature by one of the agent's keys; ends `sshAgentSign`.
package struct SSHAgentSignatureAnswer: DaemonAnswer {
    package static let kind = AnswerKind(192, name: "sshAgentSignature")
    package static let meaning = AnswerMeaning.end

    /// The ECDSA integers r and s, 32 bytes each, big-endian.
    package var numbers: Bytes  // .sshNumbers
}

extension Request {
    package static func sshAgentCreate(_ request: SSHAgentCreateRequest) -> Request {
        Request(request)
    }

    package static func sshAgentSign(_ request: SSHAgentSignRequest) -> Request {
        Request(request)
    }
}

extension Field {
    package static var sshPrograms: Field {
        Field(200, size: 0...(SSHAgentPrograms.most * (SSHAgentPrograms.longest + 1) - 1))
    }
    package static var sshForwarders: Field { Field(201, size: 0...(SSHHosts.most * 32)) }
    package static var sshSessionHost: Field { Field(202, size: 0...32) }
}
