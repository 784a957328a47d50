// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SignedFormats

// The requests about ssh keys, which `libsk-signet.so` and the command make. `DaemonRequest` of
// CommandProtocol adds what only the daemon needs.

/// The requests about ssh keys; the raw value is the frame's kind.
package enum SSHVerb: UInt8, CaseIterable, Sendable {
    /// Makes a key, after a touch.
    case create = 60
    /// Signs with a key, after a touch.
    case sign = 61
    /// Lists the account's keys.
    case list = 62
    /// Destroys a key.
    case remove = 63
}

/// Makes an ssh key after a touch; ends with `sshKeyMade`.
package struct SSHCreateRequest: Equatable, Sendable {
    /// The account whose fingers the key is sealed to.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// What the key is for, as the client says; the daemon accepts only an `SSHApplication`.
    package var application: Bytes
    /// The key's name; nil to have the daemon choose one after the application.
    package var name: SSHKeyName?

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32, application: Bytes,
        name: SSHKeyName? = nil
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.application = application
        self.name = name
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.sshApplication, application)
        try frame.put(.sshKeyName, ifPresent: name?.bytes)
    }

    /// Encodes the request; throws if a value does not fit its field.
    package func packet() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: SSHVerb.create.rawValue)
        try put(into: &frame)
        return frame.bytes
    }
}

/// Signs with an ssh key after a touch; ends with `sshSignature`.
package struct SSHSignRequest: Equatable, Sendable {
    /// The account whose finger and key are used.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The application of the key, as the client has it in the key's file.
    package var application: Bytes
    /// The key handle, as the client has it in the key's file; the daemon accepts only an
    /// `SSHKeyHandle` of this machine and account.
    package var handle: Bytes
    /// What is to be signed, byte for byte; the daemon signs only what it can name.
    package var data: Bytes
    /// Whether the signature has to state a verified user, so that no grant serves.
    package var wantsVerification: Bool

    /// Creates a request; sizes are checked when it is encoded.
    package init(
        account: AccountName, timeoutMilliseconds: UInt32, application: Bytes, handle: Bytes,
        data: Bytes, wantsVerification: Bool = false
    ) {
        self.account = account
        self.timeoutMilliseconds = timeoutMilliseconds
        self.application = application
        self.handle = handle
        self.data = data
        self.wantsVerification = wantsVerification
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.sshApplication, application)
        try frame.put(.sshKeyHandle, handle)
        try frame.put(.sshData, data)
        if wantsVerification { try frame.put(.sshVerified, number: UInt8(1)) }
    }

    /// Encodes the request; throws if a value does not fit its field.
    package func packet() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: SSHVerb.sign.rawValue)
        try put(into: &frame)
        return frame.bytes
    }
}

/// Lists an account's ssh keys: `sshKey` for each, then `sshKeyCount`.
package struct SSHListRequest: Equatable, Sendable {
    /// The account.
    package var account: AccountName

    /// Creates a request.
    package init(account: AccountName) { self.account = account }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
    }

    /// Encodes the request; throws if a value does not fit its field.
    package func packet() throws(WireFault) -> Bytes {
        var frame = FrameWriter(kind: SSHVerb.list.rawValue)
        try put(into: &frame)
        return frame.bytes
    }
}

/// Destroys an ssh key of an account; ends with `done`.
package struct SSHRemoveRequest: Equatable, Sendable {
    /// The account.
    package var account: AccountName
    /// The key.
    package var key: SSHKeyID

    /// Creates a request.
    package init(account: AccountName, key: SSHKeyID) {
        self.account = account
        self.key = key
    }

    /// Appends the fields to a frame.
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.sshKeyID, key)
    }
}

extension Field {
    package static var sshApplication: Field { Field(160, size: 1...Limit.label) }
    package static var sshKeyHandle: Field { Field(161, size: 0...Limit.label) }
    package static var sshData: Field { Field(162, size: 0...SSHSignedData.longest) }
    package static var sshKeyID: Field { Field(163, size: 16) }
    package static var sshKeyName: Field { Field(164, size: 1...SSHKeyName.longest) }
    package static var sshKeyState: Field { Field(165, size: 1) }
    package static var sshFlags: Field { Field(166, size: 1) }
    package static var sshCounter: Field { Field(167, size: 4) }
    package static var sshNumbers: Field { Field(168, size: 64) }
    package static var sshVerified: Field { Field(213, size: 1) }
}
