// SPDX-License-Identifier: Apache-2.0
/// Why a login is refused; the raw value is on the wire. Commands have these reasons and more of their
/// own: `DenialReason` of CommandProtocol, with the same raw values.
package enum LoginDenialReason: UInt8, CaseIterable, Sendable {
    /// The account has no finger enrolled.
    case notEnrolled = 1
    /// Fingers are there, but login by finger is off: never enabled, or disabled.
    case notEnabled = 2
    /// The fingers changed, so the key cannot be opened any more. `cause`, `since`.
    case invalidated = 3
    /// Too many failed matches; wait. `seconds`.
    case lockedForNow = 4
    /// Too many failed matches; only the password helps.
    case lockedUntilPassword = 5
    /// No reader that could be used is there.
    case noReader = 6
    /// The reader was unplugged during the scan.
    case readerRemoved = 7
    /// The reader has to cool down.
    case readerTooHot = 8
    /// Another program has the reader.
    case readerBusy = 9
    /// The reader failed in another way. `subject`: the driver's message.
    case readerFailed = 10
    /// The finger did not match, and the tries are used up.
    case noMatch = 11
    /// Nobody touched in time. Also after a mismatch: see `mismatches`.
    case timedOut = 12
    /// The client took the request back.
    case cancelled = 13
    /// The caller's session is remote.
    case remoteSession = 14
    /// Somebody else is being asked for a touch, and no more may wait. `subject` names who.
    case queueFull = 15
    /// The caller may not ask this for that account.
    case notPermitted = 16
    /// No such account on this machine.
    case unknownAccount = 17
    /// What is kept on disk could not be read or written. `subject`: the operation's error.
    case storage = 24
    /// Too many requests from this user; wait a moment.
    case tooManyRequests = 25
    /// The request could not be understood, or is not possible now.
    case badRequest = 26
    /// The daemon is stopping.
    case stopping = 27
    /// The system is about to sleep.
    case suspending = 28
    /// The vault cannot be used now. `subject`: why.
    case vaultUnavailable = 29
    /// The state in which the system was started (PCR) is not the one the key was sealed to.
    case platformChanged = 30
    /// The key that the account's fingerprints are sealed with is not to be had. `subject`: why.
    case fingersClosed = 35
    /// The lid is closed: nobody can be at the reader.
    case lidClosed = 36
    /// The readers are at another seat than the caller's session.
    case otherSeat = 37
    /// The administrator's lists keep the account or the service out. `subject`: the setting.
    case notServed = 38
    /// The request comes from the background, and its service is not served there.
    case inBackground = 39
    /// Nothing shows that the requester is at this machine. `subject`: what is missing, a `Detail`.
    case notAtMachine = 40
    /// The request is for another account than the requester's own. `subject`: the requester.
    case otherRequester = 41
    /// The confirmation of a touch came too late, a second time, or for no touch.
    case answerTooLate = 42
    /// Fingers, credential, lockout, presence or sleep state have changed since the touch.
    case changedMeanwhile = 43
    /// The reader has lost the account's prints that it kept.
    case printLost = 47
    /// The reader said something that its driver did not expect.
    case readerConfused = 50
    /// A server could not be asked. `subject`: why.
    case serverUnreachable = 60
    /// A server said no. `subject`: its problem's code.
    case serverRefused = 61
    /// This device is not registered there for the account. `subject`: the server.
    case unknownServer = 63
    /// The fingers changed since the key for this server was made. `subject`: the server.
    case serverKeyInvalidated = 65
    /// Another device took this one's place; the key was destroyed. `subject`: the server.
    case serverKeyReplaced = 66
    /// The registration was removed at the server; the key was destroyed. `subject`: the server.
    case serverKeyRemoved = 67
    /// The registration is blocked at the server. `subject`: the server.
    case serverKeyBlocked = 68
    /// A server cannot be asked, and its last yes is too long ago. `subject`: the server, `since`: when.
    case serverTooLongAgo = 79
    /// A server could be asked before the touch, and not any more after it. `subject`: the server.
    case serverLost = 80
    /// The same key has just been used there, and that is not answered yet. `subject`: the server.
    case serverBusy = 81
    /// A server cannot be asked, and the clock was set back. `since`: a moment that has been.
    case clockSetBack = 82
}

/// What made a credential unusable; the raw value is on the wire.
package enum InvalidationCause: UInt8, CaseIterable, Sendable {
    case fingerAdded = 1
    case fingerRemoved = 2
    case fingerReplaced = 3
    case printDamaged = 4
    case credentialDamaged = 5
    case hostSecretChanged = 6
    /// A print that Signet does not know is in the reader's own storage.
    case fingerAddedOnReader = 7
    /// A print is gone from the reader's own storage.
    case fingerRemovedOnReader = 8
    /// The reader is another one.
    case readerExchanged = 9
    /// The key was made in a TPM that was cleared since, or is another one.
    case tpmExchanged = 10
}

/// A no to a login, with what the user needs to go on.
package typealias LoginDenial = DenialOf<LoginDenialReason>

/// A no for a reason of one kind, with what the user needs to go on.
package struct DenialOf<Reason: Equatable & Sendable>: Error, Equatable {
    /// Why.
    package var reason: Reason
    /// What made the credential unusable.
    package var cause: InvalidationCause?
    /// How long to wait, in seconds.
    package var seconds: UInt32?
    /// When it came to this, in seconds since 1970.
    package var since: UInt64?
    /// Who or what stands in the way, for people; never parsed.
    package var subject: Bytes?
    /// The finger in question.
    package var finger: Finger?
    /// How many scans did not match before this.
    package var mismatches: UInt8

    /// A denial for a reason; the rest is said where it applies.
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
