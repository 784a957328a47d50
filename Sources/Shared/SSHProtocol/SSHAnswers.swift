// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

/// The kinds of the answers about ssh keys; the raw value is the frame's kind.
package enum SSHAnswerKind: UInt8, CaseIterable, Sendable {
    /// Ends `sshCreate` with the new key.
    case made = 170
    /// One key.
    case key = 171
    /// Ends `sshList` with the number of keys before it.
    case count = 172
    /// Ends `sshSign` with the signature.
    case signature = 173
}

/// Whether an ssh key can be used; the raw value is on the wire.
package enum SSHKeyState: UInt8, CaseIterable, Sendable {
    /// A touch opens it.
    case good = 1
    /// It was made for other fingers, and its private half is destroyed.
    case invalidated = 2
}

/// An account's ssh key, without its private half.
package struct SSHKeyContent: Equatable, Sendable {
    /// When it was made, in seconds since 1970.
    package var since: UInt64
    /// The vault that opens it.
    package var vault: Bytes
    /// The public key.
    package var publicKey: PublicKeyPoint
    /// What it is for.
    package var application: SSHApplication
    /// Its handle, as OpenSSH stores it.
    package var handle: SSHKeyHandle
    /// Its name.
    package var name: SSHKeyName
    /// Whether it can be used.
    package var state: SSHKeyState

    /// Creates a description.
    package init(
        since: UInt64, vault: Bytes, publicKey: PublicKeyPoint, application: SSHApplication,
        handle: SSHKeyHandle, name: SSHKeyName, state: SSHKeyState
    ) {
        self.since = since
        self.vault = vault
        self.publicKey = publicKey
        self.application = application
        self.handle = handle
        self.name = name
        self.state = state
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.since, number: since)
        try frame.put(.vault, vault)
        try frame.put(.publicKey, publicKey)
        try frame.put(.sshApplication, application.bytes)
        try frame.put(.sshKeyHandle, handle.bytes)
        try frame.put(.sshKeyName, name.bytes)
        try frame.put(.sshKeyState, number: state.rawValue)
    }

    /// Reads the fields; throws for an application, handle or name that cannot be one.
    package init(from frame: inout FrameReader) throws(WireFault) {
        since = try frame.number(.since)
        vault = try frame.bytes(.vault)
        publicKey = try frame.fixed(.publicKey)
        guard let application = SSHApplication(try frame.bytes(.sshApplication)),
            let handle = SSHKeyHandle(try frame.bytes(.sshKeyHandle)),
            let name = SSHKeyName(try frame.bytes(.sshKeyName))
        else { throw .malformedValue }
        self.application = application
        self.handle = handle
        self.name = name
        state = try frame.choice(.sshKeyState)
    }
}

/// The new key; ends `sshCreate`.
package struct SSHKeyMadeAnswer: Equatable, Sendable {
    /// The key.
    package var content: SSHKeyContent

    /// Creates an answer.
    package init(_ content: SSHKeyContent) { self.content = content }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try content.put(into: &frame)
    }

    /// Reads the fields.
    package init(from frame: inout FrameReader) throws(WireFault) {
        content = try SSHKeyContent(from: &frame)
    }
}

/// One key of a list.
package struct SSHKeyAnswer: Equatable, Sendable {
    /// The key.
    package var content: SSHKeyContent

    /// Creates an answer.
    package init(_ content: SSHKeyContent) { self.content = content }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try content.put(into: &frame)
    }

    /// Reads the fields.
    package init(from frame: inout FrameReader) throws(WireFault) {
        content = try SSHKeyContent(from: &frame)
    }
}

/// How many keys were listed; ends `sshList`.
package struct SSHKeyCountAnswer: Equatable, Sendable {
    /// The number of `sshKey` before it.
    package var count: UInt32

    /// Creates an answer.
    package init(count: UInt32) { self.count = count }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.count, number: count)
    }

    /// Reads the fields.
    package init(from frame: inout FrameReader) throws(WireFault) {
        count = try frame.number(.count)
    }
}

/// A signature by an ssh key; ends `sshSign`.
package struct SSHSignatureAnswer: Equatable, Sendable {
    /// The flags that were signed: those of `SSHSecurityKey`, of a touch or of a grant.
    package var flags: UInt8
    /// The counter that was signed.
    package var counter: UInt32
    /// The ECDSA integers r and s, 32 bytes each, big-endian.
    package var numbers: Bytes

    /// Creates an answer; `numbers` must have 64 bytes.
    package init(flags: UInt8, counter: UInt32, numbers: Bytes) {
        self.flags = flags
        self.counter = counter
        self.numbers = numbers
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.sshFlags, number: flags)
        try frame.put(.sshCounter, number: counter)
        try frame.put(.sshNumbers, numbers)
    }

    /// Reads the fields; throws for other flags than those of `SSHSecurityKey`.
    package init(from frame: inout FrameReader) throws(WireFault) {
        flags = try frame.number(.sshFlags)
        guard flags == SSHSecurityKey.flags || flags == SSHSecurityKey.presenceFlags else {
            throw .malformedValue
        }
        counter = try frame.number(.sshCounter)
        numbers = try frame.bytes(.sshNumbers)
    }
}
