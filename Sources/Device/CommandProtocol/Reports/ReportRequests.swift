// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Reports the account's status.
///
/// It is answered by `server` for each registration, `signingKey` if there is one, `reader` for each
/// reader and `print` for each finger, then `status`.
package struct StatusRequest: AccountRequest {
    package static let verb = Verb(8, name: "status")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// The state of an account's credential; the raw value is on the wire.
package enum CredentialState: UInt8, CaseIterable, Sendable {
    case none = 1
    case valid = 2
    case disabled = 3
    case invalidated = 4
}

/// Whether a touch unlocks the keyring, and if not, why; the raw value is on the wire.
package enum KeyringState: UInt8, CaseIterable, Sendable {
    /// It was never enabled, or was disabled.
    case off = 1
    /// A touch unlocks it; the login password is stored.
    case on = 2
    /// It does not, because the stored password was no longer the account's and was deleted.
    case passwordChanged = 3
    /// It does not: the fingers changed, so the stored password was deleted and not entered again.
    case fingersChanged = 4
    /// It does not, because the stored password could not be opened and was deleted.
    case damaged = 5
}

/// Whether the account is locked out; the raw value is on the wire.
package enum LockState: UInt8, CaseIterable, Sendable {
    case open = 1
    case forNow = 2
    case untilPassword = 3
}

/// The status of an account.
package struct StatusAnswer: Equatable, Sendable {
    /// The account.
    package var account: AccountName
    /// The remaining time of the lockout in seconds, if `lock` is `forNow`.
    package var seconds: UInt32?
    /// Why the credential was invalidated.
    package var cause: InvalidationCause?
    /// When the credential entered its present state, in seconds since 1970.
    package var since: UInt64?
    /// Why a configuration file was rejected, with file and line; the defaults then apply.
    package var configurationFault: Bytes?
    /// Why the templates cannot be opened at present; nil if they can.
    package var closed: Bytes?
    /// The number of enrolled fingers.
    package var prints: UInt8
    /// The number of prints that could not be read, and that `prints` does not include.
    package var damaged: UInt8
    /// The state of the credential.
    package var state: CredentialState
    /// The generation of the enrolment.
    package var generation: UInt64
    /// Whether the account is locked out.
    package var lock: LockState
    /// The daemon's version.
    package var program: Bytes
    /// The vault that holds the key, `file` or `tpm`.
    package var vault: Bytes
    /// This machine's id.
    package var device: DeviceID
    /// The number of secrets sealed to the present fingers; nil for none.
    package var secrets: UInt32?
    /// Whether a touch unlocks the keyring.
    package var keyring: KeyringState
    /// The setting that excludes the account from fingerprint login; nil if none does.
    package var keptOut: Bytes?
    /// The denial that a login of the client that asks would get before a touch; nil if none.
    ///
    /// It says nothing about single services. It has a reason, a subject, and what the account's
    /// state says of it: the cause, the day, or the seconds.
    package var refusal: Denial?
    /// Why no touch is accepted in the place from which root asks, which then is not part of the
    /// judgement; nil if it is.
    package var elsewhere: Denial?
    /// Whether the readers are unknown, because the reader process failed or did not answer.
    package var readersUnknown = false
    /// Whether the keys for servers and the signing key are unknown, because they could not be read
    /// or are a former account's.
    package var serversUnknown = false

    /// Creates an answer.
    package init(
        account: AccountName, seconds: UInt32? = nil, cause: InvalidationCause? = nil,
        since: UInt64? = nil, configurationFault: Bytes? = nil, closed: Bytes? = nil,
        prints: UInt8, damaged: UInt8, state: CredentialState, generation: UInt64,
        lock: LockState, program: Bytes, vault: Bytes, device: DeviceID, secrets: UInt32? = nil,
        keyring: KeyringState = .off, keptOut: Bytes? = nil, refusal: Denial? = nil
    ) {
        self.account = account
        self.seconds = seconds
        self.cause = cause
        self.since = since
        self.configurationFault = configurationFault
        self.closed = closed
        self.prints = prints
        self.damaged = damaged
        self.state = state
        self.generation = generation
        self.lock = lock
        self.program = program
        self.vault = vault
        self.device = device
        self.secrets = secrets
        self.keyring = keyring
        self.keptOut = keptOut
        self.refusal = refusal
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.count, numberIfPresent: secrets)
        try frame.put(.reason, numberIfPresent: refusal?.reason.rawValue)
        try frame.put(.cause, numberIfPresent: cause?.rawValue)
        try frame.put(.seconds, numberIfPresent: seconds)
        try frame.put(.since, numberIfPresent: since)
        try frame.put(.subject, ifPresent: configurationFault)
        try frame.put(.done, number: damaged)
        try frame.put(.total, number: prints)
        try frame.put(.name, ifPresent: keptOut)
        try frame.put(.value, ifPresent: closed)
        try frame.put(.origin, ifPresent: refusal?.subject)
        try frame.put(.state, number: state.rawValue)
        try frame.put(.generation, number: generation)
        try frame.put(.lock, number: lock.rawValue)
        try frame.put(.program, program)
        try frame.put(.vault, vault)
        try frame.put(.device, device)
        try frame.put(.keyringState, number: keyring.rawValue)
        try frame.put(.elsewhere, numberIfPresent: elsewhere?.reason.rawValue)
        try frame.put(.elsewhereDetail, ifPresent: elsewhere?.subject)
        try frame.put(.readersUnknown, ifSet: readersUnknown)
        try frame.put(.serversUnknown, ifSet: serversUnknown)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        let account = try frame.accountName()
        let secrets: UInt32? = try frame.numberIfPresent(.count)
        let reason: DenialReason? = try frame.choiceIfPresent(.reason)
        let cause: InvalidationCause? = try frame.choiceIfPresent(.cause)
        let seconds: UInt32? = try frame.numberIfPresent(.seconds)
        let since: UInt64? = try frame.numberIfPresent(.since)
        let configurationFault = try frame.bytesIfPresent(.subject)
        let damaged: UInt8 = try frame.number(.done)
        let prints: UInt8 = try frame.number(.total)
        let keptOut = try frame.bytesIfPresent(.name)
        let closed = try frame.bytesIfPresent(.value)
        let subject = try frame.bytesIfPresent(.origin)
        guard reason != nil || subject == nil else { throw .malformedValue }
        let state: CredentialState = try frame.choice(.state)
        self.init(
            account: account, seconds: seconds, cause: cause, since: since,
            configurationFault: configurationFault, closed: closed,
            prints: prints, damaged: damaged,
            state: state, generation: try frame.number(.generation),
            lock: try frame.choice(.lock), program: try frame.bytes(.program),
            vault: try frame.bytes(.vault), device: try frame.fixed(.device),
            secrets: secrets, keyring: try frame.choice(.keyringState), keptOut: keptOut,
            refusal: reason.map { reason in
                Denial(
                    reason, cause: reason == .invalidated ? cause : nil,
                    seconds: reason == .lockedForNow ? seconds : nil,
                    since: reason == .invalidated && state == .invalidated ? since : nil,
                    subject: subject)
            })
        let elsewhere: DenialReason? = try frame.choiceIfPresent(.elsewhere)
        let detail = try frame.bytesIfPresent(.elsewhereDetail)
        guard elsewhere != nil || detail == nil else { throw .malformedValue }
        self.elsewhere = elsewhere.map { Denial($0, subject: detail) }
        readersUnknown = try frame.isSet(.readersUnknown)
        serversUnknown = try frame.isSet(.serversUnknown)
    }
}

/// Lists the account's receipts.
///
/// It is answered by `chainHead`, `signer` for each key, `refusal` for each record, `receipt` for
/// each receipt, then `done`.
package struct LogRequest: AccountRequest {
    package static let verb = Verb(11, name: "log")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    /// The account.
    package var account: AccountName
    /// The number of receipts to skip at the beginning.
    package var first: UInt64 = 0
    /// The maximum number of receipts; 0 for all.
    package var count: UInt32 = 0
}

/// One receipt.
package struct ReceiptAnswer: FrameContent {
    /// The statement's canonical text.
    package var statement: Bytes
    /// The SSHSIG blob of its signature, without armour.
    package var signature: Bytes
    /// Whether the log records that the daemon confirmed the proof.
    package var isGranted: Bool  // .granted
}

/// Reports touches that are requested without a terminal, as `event`, until cancelled.
package struct WatchRequest: AccountRequest {
    package static let verb = Verb(25, name: "watch")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    package let account: AccountName
}

/// The beginning or the end of a touch that is requested without a terminal.
///
/// It is sent to clients that watch.
package struct EventAnswer: FrameContent {
    /// The account whose finger is requested.
    package var account: AccountName
    /// The PAM service that requests it.
    package var service: ServiceName
    /// The requesting user, PAM_RUSER; empty if there is none.
    package var requester: AccountName = .none
    /// The command or action that the touch authorises, empty if unknown.
    package var purpose: Bytes = []
    /// Whether the touch has ended: it was confirmed, refused or given up.
    package var isOver: Bool  // .done stated
    /// The number of the touch, which is the same at its beginning and its end.
    package var number: UInt64  // .counter
}

extension Request {
    package static func log(_ request: LogRequest) -> Request { Request(request) }
}

extension Field {
    package static var first: Field { Field(14, size: 8) }
    package static var generation: Field { Field(49, size: 8) }
    package static var lock: Field { Field(50, size: 1) }
    package static var program: Field { Field(52, size: 0...Limit.label) }
    package static var granted: Field { Field(61, size: 1) }
    package static var elsewhere: Field { Field(220, size: 1) }
    package static var elsewhereDetail: Field { Field(221, size: 0...Limit.text) }
    package static var readersUnknown: Field { Field(222, size: 1) }
    package static var serversUnknown: Field { Field(225, size: 1) }
}
