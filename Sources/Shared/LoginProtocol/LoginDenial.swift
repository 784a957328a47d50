// SPDX-License-Identifier: Apache-2.0
/// Why a login is denied; the raw value is on the wire.
///
/// Commands have these reasons and more of their own: `DenialReason` of CommandProtocol uses the
/// same raw values for them. A case's comment names the fields of `DenialOf` that are set with it.
package enum LoginDenialReason: UInt8, CaseIterable, Sendable {
    /// The account has no enrolled finger.
    case notEnrolled = 1
    /// Fingers are enrolled, but login by finger is off: never enabled, or disabled.
    case notEnabled = 2
    /// The fingers changed, so the key can no longer be opened. `cause`, `since`.
    case invalidated = 3
    /// Locked out for a while after too many failed attempts. `seconds`.
    case lockedForNow = 4
    /// Locked out after too many failed attempts until a password is accepted.
    case lockedUntilPassword = 5
    /// There is no usable reader. `subject`: the readers of the fingers, if others are connected.
    case noReader = 6
    /// The reader was unplugged during the scan.
    case readerRemoved = 7
    /// The reader must cool down.
    case readerTooHot = 8
    /// Another program is using the reader.
    case readerBusy = 9
    /// The reader failed in another way. `subject`: the driver's message.
    case readerFailed = 10
    /// The finger did not match, and no tries are left.
    case noMatch = 11
    /// No touch came in time. This may follow a mismatch: see `mismatches`.
    case timedOut = 12
    /// The client cancelled the request.
    case cancelled = 13
    /// The caller's session is remote.
    case remoteSession = 14
    /// Another request is waiting for a touch, and the queue is full. `subject`: the one served.
    case queueFull = 15
    /// The caller is not permitted to request this for that account.
    case notPermitted = 16
    /// There is no such account on this machine.
    case unknownAccount = 17
    /// Data on disk could not be read or written. `subject`: the operation's error.
    case storage = 24
    /// Too many requests from this user; wait a moment.
    case tooManyRequests = 25
    /// The request is malformed, or impossible in the present state.
    case badRequest = 26
    /// The daemon is stopping.
    case stopping = 27
    /// The system is about to suspend.
    case suspending = 28
    /// The vault cannot be used at present. `subject`: the reason.
    case vaultUnavailable = 29
    /// The platform state (PCR values) differs from the one that the key was sealed to.
    case platformChanged = 30
    /// The key that seals the account's templates is not available. `subject`: the reason.
    case fingersClosed = 35
    /// The lid is closed, so the reader cannot be reached.
    case lidClosed = 36
    /// The readers belong to another seat than the caller's session.
    case otherSeat = 37
    /// The administrator's lists exclude the account or the service. `subject`: the setting.
    case notServed = 38
    /// The request comes from the background, where its service is not served.
    case inBackground = 39
    /// Nothing shows that the requester is at this machine. `subject`: what is missing, a `Detail`.
    case notAtMachine = 40
    /// The request is for an account other than the requester's own. `subject`: the requester.
    case otherRequester = 41
    /// A confirmation came too late, came a second time, or belongs to no touch.
    case answerTooLate = 42
    /// The fingers, credential, lockout, presence or sleep state changed after the touch.
    case changedMeanwhile = 43
    /// The reader has lost the account's prints that it stored.
    case printLost = 47
    /// The reader sent something that its driver did not expect.
    case readerConfused = 50
    /// The server could not be reached. `subject`: the reason.
    case serverUnreachable = 60
    /// The server refused. `subject`: the code of its problem.
    case serverRefused = 61
    /// This device is not registered at the server for the account. `subject`: the server.
    case unknownServer = 63
    /// The fingers changed after the key for this server was made. `subject`: the server.
    case serverKeyInvalidated = 65
    /// Another device replaced this one, and the key was destroyed. `subject`: the server.
    case serverKeyReplaced = 66
    /// The registration was removed at the server, and the key was destroyed. `subject`: the
    /// server.
    case serverKeyRemoved = 67
    /// The registration is blocked at the server. `subject`: the server.
    case serverKeyBlocked = 68
    /// The server is unreachable, and its last approval is too old. `subject`: the server; `since`:
    /// when.
    case serverTooLongAgo = 79
    /// The server could be reached before the touch but not after it. `subject`: the server.
    case serverLost = 80
    /// The same key was just used there, and that use is not answered yet. `subject`: the server.
    case serverBusy = 81
    /// The server is unreachable, and the clock was set back. `since`: a moment that was reached
    /// before.
    case clockSetBack = 82
    /// A finger is being added or deleted, which only the password may authorise.
    case passwordOnly = 120
    /// The settings cannot be understood, and no earlier ones are stored. `subject`: the mistake,
    /// with file and line.
    case settingsNotUnderstood = 136
}

/// Why a credential was invalidated; the raw value is on the wire.
package enum InvalidationCause: UInt8, CaseIterable, Sendable {
    case fingerAdded = 1
    case fingerRemoved = 2
    case fingerReplaced = 3
    case printDamaged = 4
    case credentialDamaged = 5
    case hostSecretChanged = 6
    /// The reader stores a print that Signet does not know.
    case fingerAddedOnReader = 7
    /// A print is missing from the reader's storage.
    case fingerRemovedOnReader = 8
    /// The reader was replaced by another one.
    case readerExchanged = 9
    /// The key was made in a TPM that was cleared since, or in another TPM.
    case tpmExchanged = 10
    /// The account was renamed, or is another one with the same name and uid.
    case accountReplaced = 31
    /// The password was set without the old one.
    case passwordReplaced = 32
}

/// A denial of a login, with what the user needs to continue.
package typealias LoginDenial = DenialOf<LoginDenialReason>

/// A denial with a reason of one kind, and what the user needs to continue.
///
/// Only the fields that apply to the reason are set; see the cases of the reason.
package struct DenialOf<Reason: Equatable & Sendable>: Error, Equatable {
    /// The reason.
    package var reason: Reason
    /// Why the credential was invalidated.
    package var cause: InvalidationCause?
    /// The time to wait, in seconds.
    package var seconds: UInt32?
    /// When the condition arose, in seconds since 1970.
    package var since: UInt64?
    /// Who or what is in the way, for people to read; never parsed.
    package var subject: Bytes?
    /// The finger concerned.
    package var finger: Finger?
    /// The number of scans in this request that did not match.
    package var mismatches: UInt8

    /// Creates a denial; set only the fields that apply to the reason.
    package init(
        _ reason: Reason, cause: InvalidationCause? = nil, seconds: UInt32? = nil,
        since: UInt64? = nil, subject: Bytes? = nil, finger: Finger? = nil, mismatches: UInt8 = 0
    ) {
        self.reason = reason
        self.cause = cause
        self.seconds = seconds
        self.since = since
        self.subject = subject
        self.finger = finger
        self.mismatches = mismatches
    }
}
