// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Sealing
import SignedFormats

/// One of an account's ssh keys, as stored: sealed to the fingers and to its application.
///
/// The name is the user's and decides nothing. The application is part of what the private key is
/// sealed to, so a record with another one does not open.
package struct StoredSSHKey: Equatable, Sendable {
    /// The state of a key.
    package enum State: String, CaseIterable, Sendable {
        /// The key is sealed to some fingers.
        ///
        /// Whether it opens is known only after opening it.
        case good = "good"
        /// The key was made for other fingers, and its private half has been deleted.
        case invalidated = "invalidated"
    }

    /// The private key as sealed, with the fingers that it is sealed to.
    struct Sealing: Equatable, Sendable {
        let enrolment: EnrolmentState
        let key: [UInt8]
    }

    /// The key's id.
    package let identifier: SSHKeyID
    /// The key's name.
    package let name: SSHKeyName
    /// The time of creation.
    package let created: Instant
    /// The public key, whose kind says what it signs.
    package let publicKey: SSHSignerKey
    /// The vault that opens the key.
    package let vault: VaultKind
    /// The state of the key.
    package internal(set) var state: State
    /// The last counter that was reserved for a signature.
    package internal(set) var counter: UInt32
    /// The sealed private key; nil if the key is invalidated.
    var sealing: Sealing?
    /// The private key, sealed to the fingers after a change that has been authorised and is under
    /// way; nil for none.
    ///
    /// It stays only if exactly these fingers take effect. A crash may leave it; see
    /// `SSHKeyStore.settle`.
    var next: Sealing?

    /// What the key is for.
    package var application: SSHApplication { publicKey.application }

    /// Returns the private key as sealed to these fingers; nil if it is not sealed to them.
    package func sealed(for state: EnrolmentState) -> [UInt8]? {
        if let sealing, sealing.enrolment == state { return sealing.key }
        if let next, next.enrolment == state { return next.key }
        return nil
    }

    /// Returns the key in the state that the next request would put it in.
    ///
    /// `fingers` is the present enrolment state, or nil if the credential for this machine is
    /// revoked. Changes nothing on disk.
    package func shown(fitting fingers: EnrolmentState?) -> StoredSSHKey {
        var shown = self
        if fingers.flatMap({ sealed(for: $0) }) == nil { shown.state = .invalidated }
        return shown
    }
}

extension StoredSSHKey: LineRecord {
    static let cap = 4_096

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-ssh-key", number: 1)
        lines.put("id", id: identifier)
        lines.put("name", name.bytes)
        lines.put("application", application.bytes)
        lines.put("created", created.text)
        lines.put("public", Base64.encode(publicKey.key.point.bytes, alphabet: .url))
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put("state", Array(state.rawValue.utf8))
        lines.put("counter", number: UInt64(counter))
        if let sealing {
            lines.put(enrolment: sealing.enrolment)
            lines.put("key", Base64.encode(sealing.key, alphabet: .url))
        }
        if let next {
            lines.put("next", number: next.enrolment.generation)
            lines.put(enrolment: next.enrolment)
            lines.put("key", Base64.encode(next.key, alphabet: .url))
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-ssh-key")
        identifier = try lines.identifier("id")
        guard let name = SSHKeyName(try lines.value("name", cap: SSHKeyName.longest)),
            let application = Self.application(
                try lines.value("application", cap: SSHApplication.longest))
        else { throw .malformed }
        self.name = name
        created = try lines.instant("created")
        guard let key = SSHPublicKey(point: try lines.base64("public", count: 65)) else {
            throw .malformed
        }
        publicKey = SSHSignerKey(key: key, application: application)
        vault = try lines.vault("vault")
        let word = String(decoding: try lines.value("state", cap: 16), as: UTF8.self)
        guard let state = State(rawValue: word) else { throw .malformed }
        self.state = state
        guard let counter = UInt32(exactly: try lines.number("counter")) else { throw .malformed }
        self.counter = counter
        switch state {
        case .invalidated: sealing = nil
        case .good:
            sealing = try Sealing(parsing: &lines)
            if lines.isNext("next") {
                let generation = try lines.number("next")
                let next = try Sealing(parsing: &lines)
                guard next.enrolment.generation == generation else { throw .malformed }
                self.next = next
            }
        }
    }

    /// The application on a line: one of ssh, or what stands for the agent.
    private static func application(_ text: [UInt8]) -> SSHApplication? {
        text == SSHApplication.agent.bytes ? .agent : SSHApplication(text)
    }
}

extension StoredSSHKey.Sealing {
    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        enrolment = try lines.enrolment()
        key = try lines.bytes("key", cap: VaultLimit.sealed)
        guard !key.isEmpty else { throw .malformed }
    }
}
