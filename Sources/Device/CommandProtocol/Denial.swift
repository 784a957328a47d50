// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// Why a request of a login or command is denied; the raw value is on the wire.
///
/// It has all reasons of `LoginDenialReason`, with the same raw values, and those that only
/// commands can get. The comment of a case names the fields of `DenialOf` that are set with it.
package enum DenialReason: UInt8, CaseIterable, Sendable {
    /// The account has no enrolled finger.
    case notEnrolled = 1
    /// Fingers are enrolled, but login by finger is off: never enabled, or disabled.
    case notEnabled = 2
    /// The fingers changed, so the key can no longer be opened. `cause`, `since`.
    case invalidated = 3
    /// Temporarily locked out after too many failed attempts. `seconds`.
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
    /// No touch came in time; earlier scans may have mismatched, see `mismatches`.
    case timedOut = 12
    /// The client cancelled the request.
    case cancelled = 13
    /// The caller's session is remote.
    case remoteSession = 14
    /// Other requests wait for a touch, and the queue is full. `subject`: the one being served.
    case queueFull = 15
    /// The caller is not permitted to request this for that account.
    case notPermitted = 16
    /// There is no such account on this machine.
    case unknownAccount = 17
    /// The password was wrong.
    case wrongPassword = 18
    /// The password could not be checked, or checking it took too long.
    case passwordCheckFailed = 19
    /// The enrolment failed; the reason is logged to the journal but withheld from the user.
    case fingerNotEnrolled = 20
    /// This finger is already enrolled for the account. `finger`.
    case fingerKnown = 21
    /// The account has the maximum number of fingers.
    case tooManyFingers = 22
    /// The finger to delete is not enrolled.
    case unknownFinger = 23
    /// Data on disk could not be read or written. `subject`: the operation's error.
    case storage = 24
    /// This user makes too many requests and must wait a moment.
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
    /// A secret with this name exists already. `subject`: the name.
    case secretExists = 31
    /// There is no secret with this name. `subject`: the name.
    case unknownSecret = 32
    /// The secret was sealed to other fingers and can no longer be opened. `subject`: the name.
    case secretStale = 33
    /// The account has the maximum number of secrets.
    case tooManySecrets = 34
    /// The key that seals the account's templates is not available. `subject`: the reason.
    case fingersClosed = 35
    /// The lid is closed, so the reader cannot be reached.
    case lidClosed = 36
    /// The readers belong to another seat than the caller's session.
    case otherSeat = 37
    /// The administrator's lists exclude the account or the service. `subject`: the setting.
    case notServed = 38
    /// The request comes from the background of a terminal, where its service is not served.
    case inBackground = 39
    /// There is no proof that the requester is at this machine. `subject`: what is missing, a
    /// `Detail`.
    case notAtMachine = 40
    /// The request is for an account other than the requester's own. `subject`: the requester.
    case otherRequester = 41
    /// A confirmation came too late, came a second time, or belongs to no touch.
    case answerTooLate = 42
    /// The fingers, credential, lockout, presence or sleep state changed after the touch.
    case changedMeanwhile = 43
    /// Too many enrolments compared fingers with those of other accounts.
    ///
    /// `seconds`: the time to wait.
    case enrolmentPaused = 44
    /// Like `enrolmentPaused`, after more enrolments: only root may enrol a finger for this
    /// account.
    case enrolmentLocked = 45
    /// An enrolment gave up the reader to a touch, because no finger was on the reader for a while,
    /// or a verification for a desktop did so at once.
    case enrolmentYielded = 46
    /// The reader has lost the account's prints that it stored.
    case printLost = 47
    /// The reader's storage is full.
    case readerFull = 48
    /// The reader stores this finger already, in a print that Signet does not know.
    case fingerOnReader = 49
    /// The reader sent something that its driver did not expect.
    case readerConfused = 50
    /// The server could not be reached. `subject`: the reason.
    case serverUnreachable = 60
    /// The server refused. `subject`: the code of its problem.
    case serverRefused = 61
    /// The activation code is invalid or no longer valid.
    case activationRefused = 62
    /// This device is not registered at the server for the account. `subject`: the server.
    case unknownServer = 63
    /// The device is already registered there. `subject`: the server.
    case knownServer = 64
    /// The fingers changed after the key for this server was made. `subject`: the server.
    case serverKeyInvalidated = 65
    /// Another device replaced this one, and the key was destroyed. `subject`: the server.
    case serverKeyReplaced = 66
    /// The registration was removed at the server, and the key was destroyed. `subject`: the
    /// server.
    case serverKeyRemoved = 67
    /// The registration is blocked at the server. `subject`: the server.
    case serverKeyBlocked = 68
    /// The account has the maximum number of servers.
    case tooManyServers = 69
    /// The account has no signing key.
    case noSigningKey = 70
    /// The fingers changed after the signing key was made.
    case signingKeyInvalidated = 71
    /// The account already has a signing key.
    case signingKeyExists = 72
    /// There is no MAC token with this name for the server. `subject`: the name.
    case unknownMacToken = 74
    /// The account has the maximum number of MAC tokens.
    case tooManyMacTokens = 75
    /// A touch is required to obtain the token that reads operations. `subject`: the server.
    case readingTokenWanted = 76
    /// The server knows no such operation for this account and device. `subject`: the server.
    case unknownOperation = 77
    /// The operation was already decided or has ended. `subject`: its state.
    case operationOver = 78
    /// The server is unreachable, and its last approval is too old.
    ///
    /// `subject`: the server; `since`: when it approved.
    case serverTooLongAgo = 79
    /// The server could be reached before the touch but not after it. `subject`: the server.
    case serverLost = 80
    /// The same key is already in use at this server, and no answer has arrived yet. `subject`: the
    /// server.
    case serverBusy = 81
    /// The server is unreachable, and the clock was set back. `since`: a time that the clock had
    /// already reached.
    case clockSetBack = 82
    /// A stored print is damaged, so no key is made for the others. `finger`, if known.
    case printsDamaged = 83
    /// The password was not accepted, and the account has no usable password. `subject`: a
    /// `Detail`.
    case noPassword = 84
    /// The account has expired, so its password is not accepted.
    case accountExpired = 85
    /// The password has expired and must be changed first.
    case passwordExpired = 86
    /// The server requires a proof that this machine's TPM cannot give. `subject`: why, a `Detail`.
    case notAttestable = 90
    /// The registration at the server has no key for the password. `subject`: the server.
    case noPasswordKey = 100
    /// The password has changed since the key for it was made. `subject`: the server.
    case passwordKeyStale = 101
    /// This machine does not store the account's password, so no key can be sealed to it.
    case passwordElsewhere = 102
    /// The server accepts only touches. `subject`: the server.
    case passwordNotAccepted = 103
    /// The operation accepts only the password. `subject`: the server.
    case fingerNotAccepted = 104
    /// The account has no such session at the server. `subject`: the session's id in hexadecimal.
    case unknownSession = 106
    /// The session has already ended. `subject`: its id in hexadecimal.
    case sessionOver = 107
    /// The server does not know about sessions; it is older. `subject`: the server.
    case sessionsUnknown = 108
    /// The key handle is not one of Signet, or was altered.
    case sshHandleMalformed = 110
    /// The ssh key is on another machine.
    case sshHandleOfOtherMachine = 111
    /// The ssh key belongs to another account.
    case sshHandleOfOtherAccount = 112
    /// There is no such ssh key. `subject`: its name, if a name was asked for.
    case unknownSshKey = 113
    /// The fingers changed after the ssh key was made. `subject`: its name.
    case sshKeyInvalidated = 114
    /// The account has an ssh key with this name. `subject`: the name.
    case sshKeyExists = 115
    /// The account has the maximum number of ssh keys.
    case tooManySshKeys = 116
    /// What is to be signed is neither an ssh login nor an ssh signature of a file.
    case sshDataRefused = 117
    /// What is to be signed is an ssh login with another key.
    case sshOtherKey = 118
    /// The application of an ssh key is not one of ssh, or not that of the key.
    case sshApplicationRefused = 119
    /// A finger is being added or deleted, which only the password may authorise.
    case passwordOnly = 120
    /// `ssh.grants` does not allow that one touch serves for several ssh signatures.
    case sshGrantsOff = 135
    /// The settings cannot be understood, and no earlier ones are stored. `subject`: the mistake,
    /// with file and line.
    case settingsNotUnderstood = 136
    /// An account of this name cannot have fingers: see `AccountName.isUsable`.
    case accountNameUnusable = 137
}

/// A denial of any request, with the details that the user needs to continue.
package typealias Denial = DenialOf<DenialReason>

extension Denial {
    /// This denial as one of a login; nil if the reason is one that only commands can get.
    package var toLogin: LoginDenial? {
        LoginDenialReason(rawValue: reason.rawValue).map { reason in
            LoginDenial(
                reason, cause: cause, seconds: seconds, since: since, subject: subject,
                finger: finger, mismatches: mismatches)
        }
    }
}
