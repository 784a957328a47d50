// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol
import SignedFormats

// The requests about ssh keys. `libsk-signet.so` encodes some of them itself; this file adds what
// only the daemon needs to the requests of SSHProtocol.

extension Verb {
    fileprivate init(_ verb: SSHVerb, name: String) { self.init(verb.rawValue, name: name) }
}

extension AnswerKind {
    fileprivate init(_ kind: SSHAnswerKind, name: String) {
        self.init(kind.rawValue, name: name)
    }
}

extension SSHCreateRequest: AccountRequest {
    package static let verb = Verb(.create, name: "sshCreate")
    // Not even root may: the key signs in the account's name, and its owner is to know of it.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "ssh-keygen"

    package var context: RequestContext { RequestContext(purpose: purpose) }

    /// What the touch is for, for receipts and the journal.
    package var purpose: Bytes {
        let words = Bytes("make an ssh key".utf8)
        guard let name else { return words }
        return words + Bytes(", ".utf8) + name.bytes
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            account: try frame.accountName(),
            timeoutMilliseconds: try frame.number(.timeoutMilliseconds),
            application: try frame.bytes(.sshApplication))
        guard let typed = try frame.bytesIfPresent(.sshKeyName) else { return }
        guard let name = SSHKeyName(typed) else { throw .malformedValue }
        self.name = name
    }
}

extension SSHSignRequest: AccountRequest {
    package static let verb = Verb(.sign, name: "sshSign")
    // Not even root may, because a server takes the signature for the account's owner.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "ssh"

    /// Where the request is refused before its purpose is known; see `Client.purpose` in the daemon.
    package var context: RequestContext {
        RequestContext(purpose: Bytes("sign for ssh".utf8))
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(
            account: try frame.accountName(),
            timeoutMilliseconds: try frame.number(.timeoutMilliseconds),
            application: try frame.bytes(.sshApplication),
            handle: try frame.bytes(.sshKeyHandle), data: try frame.bytes(.sshData))
        let wanted: UInt8? = try frame.numberIfPresent(.sshVerified)
        guard wanted == nil || wanted == 1 else { throw .malformedValue }
        wantsVerification = wanted == 1
    }
}

extension SSHListRequest: AccountRequest {
    package static let verb = Verb(.list, name: "sshList")
    package static let rule = VerbRule(.rootOrAccount)
    package static let logging = DecisionLogging.denials

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(account: try frame.accountName())
    }
}

extension SSHRemoveRequest: AccountRequest {
    package static let verb = Verb(.remove, name: "sshRemove")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package var context: RequestContext {
        RequestContext(purpose: Bytes("remove ssh key ".utf8) + key.hexadecimal)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        self.init(account: try frame.accountName(), key: try frame.fixed(.sshKeyID))
    }
}

extension SSHKeyMadeAnswer: DaemonAnswer {
    package static let kind = AnswerKind(.made, name: "sshKeyMade")
    package static let meaning = AnswerMeaning.end
}

extension SSHKeyAnswer: DaemonAnswer {
    package static let kind = AnswerKind(.key, name: "sshKey")
}

extension SSHKeyCountAnswer: DaemonAnswer {
    package static let kind = AnswerKind(.count, name: "sshKeyCount")
    package static let meaning = AnswerMeaning.end
}

extension SSHSignatureAnswer: DaemonAnswer {
    package static let kind = AnswerKind(.signature, name: "sshSignature")
    package static let meaning = AnswerMeaning.end
}

extension Request {
    package static func sshCreate(_ request: SSHCreateRequest) -> Request { Request(request) }

    package static func sshSign(_ request: SSHSignRequest) -> Request { Request(request) }

    package static func sshList(account: AccountName) -> Request {
        Request(SSHListRequest(account: account))
    }

    package static func sshRemove(account: AccountName, key: SSHKeyID) -> Request {
        Request(SSHRemoveRequest(account: account, key: key))
    }
}
