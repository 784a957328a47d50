// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol

/// Asks that one touch allow a few signatures by an ssh key, for programs that the client starts.
///
/// Answered by `sshAllowed` once the finger has matched. The grant lasts until the client leaves, the
/// signatures are used up, the time is over, or anything else ends it; then comes `done`, or the
/// denial of what ended it.
package struct SSHAllowRequest: AccountRequest {
    package static let verb = Verb(85, name: "sshAllow")
    // Not even root may, as for a signature.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet ssh allow"

    /// The account whose finger and key are used.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The key that may sign.
    package var key: SSHKeyID  // .sshKeyID
    /// What it may sign for.
    package var destination: SSHDestination  // .sshDestination
    /// How many signatures it may make, 1 to `SSHGrantLimit.signatures`.
    package var signatures: UInt32  // .sshSignatures
    /// For how long after the touch, in seconds, 1 to `SSHGrantLimit.seconds`.
    package var seconds: UInt32  // .sshSeconds

    package var context: RequestContext { RequestContext(purpose: purpose) }

    /// What the touch is for, as prompt, receipt and journal show it.
    package var purpose: Bytes {
        Bytes("allow \(signatures) ssh signatures in \(seconds) s for ".utf8) + destination.bytes
    }

    func check() throws(WireFault) {
        guard SSHGrantLimit.signatures.contains(signatures),
            SSHGrantLimit.seconds.contains(seconds)
        else { throw .malformedValue }
    }
}

/// The finger has matched, and signatures are allowed from now on.
package struct SSHAllowedAnswer: DaemonAnswer {
    package static let kind = AnswerKind(195, name: "sshAllowed")
    package static let meaning = AnswerMeaning.change

    /// How many signatures are allowed.
    package var signatures: UInt32  // .sshSignatures
    /// For how many seconds from now.
    package var seconds: UInt32  // .sshSeconds
}

/// The limits of a grant.
package enum SSHGrantLimit {
    /// The number of signatures.
    package static let signatures: ClosedRange<UInt32> = 1...100
    /// The time in seconds.
    package static let seconds: ClosedRange<UInt32> = 1...60
}

/// What signatures are allowed for: logins at servers with one host key, or the signatures of files
/// in one namespace.
package struct SSHDestination: FieldValue, Equatable, Sendable {
    /// The kind of a destination.
    package enum Kind: Equatable, Sendable {
        /// Logins at servers with this host key; its fingerprint as `ssh-keygen -l` shows it.
        case hostKey(fingerprint: Bytes)
        /// SSHSIGs in this namespace.
        case namespace(Bytes)
    }

    /// What it is.
    package let kind: Kind

    private static let fingerprintPrefix = Bytes("SHA256:".utf8)
    private static let namespacePrefix = Bytes("namespace:".utf8)
    /// The base64 of 32 bytes, without padding.
    private static let fingerprintCount = 43

    /// Parses `SHA256:…` or `namespace:NAME`; nil for anything else.
    package init?(_ text: Bytes) {
        if text.starts(with: Self.fingerprintPrefix) {
            let digits = text.dropFirst(Self.fingerprintPrefix.count)
            guard digits.count == Self.fingerprintCount,
                digits.allSatisfy({ Self.base64.contains($0) })
            else { return nil }
            kind = .hostKey(fingerprint: text)
        } else if text.starts(with: Self.namespacePrefix) {
            let name = Bytes(text.dropFirst(Self.namespacePrefix.count))
            guard (1...128).contains(name.count), name.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
            else { return nil }
            kind = .namespace(name)
        } else {
            return nil
        }
    }

    package init?(bytes: Bytes) { self.init(bytes) }

    /// The text that `init` parses.
    package var bytes: Bytes {
        switch kind {
        case .hostKey(let fingerprint): fingerprint
        case .namespace(let name): Self.namespacePrefix + name
        }
    }

    private static let base64 = Set(
        Bytes("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8))
}

extension Request {
    package static func sshAllow(_ request: SSHAllowRequest) -> Request { Request(request) }
}

extension Field {
    package static var sshDestination: Field { Field(212, size: 1...Limit.label) }
    package static var sshSignatures: Field { Field(214, size: 4) }
    package static var sshSeconds: Field { Field(215, size: 4) }
}
