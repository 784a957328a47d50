// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Why the answer is no, to a login or to a command; the raw value is on the wire.
package enum DenialReason: UInt8, CaseIterable, Sendable {
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
    /// The password was wrong.
    case wrongPassword = 18
    /// The password could not be checked, or took too long.
    case passwordCheckFailed = 19
    /// Nothing was enrolled. Why is in the journal, and not said to the one who enrols.
    case fingerNotEnrolled = 20
    /// This finger is already enrolled for this account. `finger`.
    case fingerKnown = 21
    /// No more fingers fit.
    case tooManyFingers = 22
    /// There is no such finger to delete.
    case unknownFinger = 23
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
    /// There is a secret of this name already. `subject`: the name.
    case secretExists = 31
    /// There is no secret of this name. `subject`: the name.
    case unknownSecret = 32
    /// The secret was sealed to other fingers and cannot be opened any more. `subject`: the name.
    case secretStale = 33
    /// No more secrets fit.
    case tooManySecrets = 34
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
    /// Too many fingers were compared with other accounts' for enrolments; wait. `seconds`.
    case enrolmentPaused = 44
    /// The same, more often still: only root may enrol a finger for this account.
    case enrolmentLocked = 45
    /// An enrolment gave way to a touch, after a while in which no finger was on the reader.
    case enrolmentYielded = 46
    /// The reader has lost the account's prints that it kept.
    case printLost = 47
    /// The reader's own storage is full.
    case readerFull = 48
    /// The reader's own storage has this finger already, and Signet knows nothing of it.
    case fingerOnReader = 49
    /// The reader said something that its driver did not expect.
    case readerConfused = 50
    /// A server could not be asked. `subject`: why.
    case serverUnreachable = 60
    /// A server said no. `subject`: its problem's code.
    case serverRefused = 61
    /// The activation code is not good, or not any more.
    case activationRefused = 62
    /// This device is not registered there for the account. `subject`: the server.
    case unknownServer = 63
    /// It is registered there already. `subject`: the server.
    case knownServer = 64
    /// The fingers changed since the key for this server was made. `subject`: the server.
    case serverKeyInvalidated = 65
    /// Another device took this one's place; the key was destroyed. `subject`: the server.
    case serverKeyReplaced = 66
    /// The registration was removed at the server; the key was destroyed. `subject`: the server.
    case serverKeyRemoved = 67
    /// The registration is blocked at the server. `subject`: the server.
    case serverKeyBlocked = 68
    /// No more servers fit.
    case tooManyServers = 69
    /// The account has no signing key.
    case noSigningKey = 70
    /// The fingers changed since the signing key was made.
    case signingKeyInvalidated = 71
    /// There is a signing key already.
    case signingKeyExists = 72
    /// There is no MAC token of this name for the server. `subject`: the name.
    case unknownMacToken = 74
    /// No more MAC tokens fit.
    case tooManyMacTokens = 75
    /// A touch is wanted first, for the token that operations are read with. `subject`: the server.
    case readingTokenWanted = 76
    /// The server knows no such operation for this account and device. `subject`: the server.
    case unknownOperation = 77
    /// The operation is decided already, or over. `subject`: what it is.
    case operationOver = 78
    /// A server cannot be asked, and its last yes is too long ago. `subject`: the server, `since`: when.
    case serverTooLongAgo = 79
    /// A server could be asked before the touch, and not any more after it. `subject`: the server.
    case serverLost = 80
    /// The same key has just been used there, and that is not answered yet. `subject`: the server.
    case serverBusy = 81
    /// A server cannot be asked, and the clock was set back. `since`: a moment that has been.
    case clockSetBack = 82
    /// A stored print is damaged, so no key is made for what is left. `finger`, where that is known.
    case printsDamaged = 83
    /// The password was not accepted, and the account has none that could be. `subject`: a `Detail`.
    case noPassword = 84
    /// The account has expired, so its password counts for nothing.
    case accountExpired = 85
    /// The password has expired, and has to be changed first.
    case passwordExpired = 86
}

/// A no, with what the user needs to go on.
package typealias Denial = DenialOf<DenialReason>

extension Denial {
    /// The same no to a login; nil for a reason that only commands are refused for.
    package var toLogin: LoginDenial? {
        LoginDenialReason(rawValue: reason.rawValue).map { reason in
            LoginDenial(
                reason, cause: cause, seconds: seconds, since: since, subject: subject,
                finger: finger, mismatches: mismatches)
        }
    }
}
