// SPDX-License-Identifier: Apache-2.0
import LoginProtocol

/// A value with a stable name outside this program.
///
/// The names occur in docs/developer/PROTOCOL.md, the journal, JSON and receipts. If a case is
/// renamed in Swift, its name here must not change.
package protocol ProtocolNamed {
    /// The name in docs/developer/PROTOCOL.md and the journal, for example `lockedForNow`.
    var protocolName: String { get }
}

extension ProtocolNamed {
    /// The name in the output of `--json`, for example `locked-for-now`.
    package var word: String { hyphenated(protocolName) }
}

/// Converts `lockedForNow` to `locked-for-now`.
private func hyphenated(_ name: String) -> String {
    name.reduce(into: "") { word, character in
        if character.isUppercase { word += "-" }
        word += character.lowercased()
    }
}

extension ConfirmingFactor: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .finger: "fingerprint"
        case .password: "password"
        }
    }
}

extension SessionFactor: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .fingerprint: "fingerprint"
        case .password: "password"
        case .both: "both"
        }
    }
}

extension OperationFactors: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .fingerprint: "fingerprint"
        case .password: "password"
        case .either: "either"
        case .both: "both"
        }
    }
}

extension DenialReason: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .notEnrolled: "notEnrolled"
        case .notEnabled: "notEnabled"
        case .invalidated: "invalidated"
        case .lockedForNow: "lockedForNow"
        case .lockedUntilPassword: "lockedUntilPassword"
        case .noReader: "noReader"
        case .readerRemoved: "readerRemoved"
        case .readerTooHot: "readerTooHot"
        case .readerBusy: "readerBusy"
        case .readerFailed: "readerFailed"
        case .noMatch: "noMatch"
        case .timedOut: "timedOut"
        case .cancelled: "cancelled"
        case .remoteSession: "remoteSession"
        case .queueFull: "queueFull"
        case .notPermitted: "notPermitted"
        case .unknownAccount: "unknownAccount"
        case .wrongPassword: "wrongPassword"
        case .passwordCheckFailed: "passwordCheckFailed"
        case .fingerNotEnrolled: "fingerNotEnrolled"
        case .fingerKnown: "fingerKnown"
        case .tooManyFingers: "tooManyFingers"
        case .unknownFinger: "unknownFinger"
        case .storage: "storage"
        case .tooManyRequests: "tooManyRequests"
        case .badRequest: "badRequest"
        case .stopping: "stopping"
        case .suspending: "suspending"
        case .vaultUnavailable: "vaultUnavailable"
        case .platformChanged: "platformChanged"
        case .secretExists: "secretExists"
        case .unknownSecret: "unknownSecret"
        case .secretStale: "secretStale"
        case .tooManySecrets: "tooManySecrets"
        case .fingersClosed: "fingersClosed"
        case .lidClosed: "lidClosed"
        case .otherSeat: "otherSeat"
        case .notServed: "notServed"
        case .inBackground: "inBackground"
        case .notAtMachine: "notAtMachine"
        case .otherRequester: "otherRequester"
        case .answerTooLate: "answerTooLate"
        case .changedMeanwhile: "changedMeanwhile"
        case .enrolmentPaused: "enrolmentPaused"
        case .enrolmentLocked: "enrolmentLocked"
        case .enrolmentYielded: "enrolmentYielded"
        case .printLost: "printLost"
        case .readerFull: "readerFull"
        case .fingerOnReader: "fingerOnReader"
        case .readerConfused: "readerConfused"
        case .serverUnreachable: "serverUnreachable"
        case .serverRefused: "serverRefused"
        case .activationRefused: "activationRefused"
        case .unknownServer: "unknownServer"
        case .knownServer: "knownServer"
        case .serverKeyInvalidated: "serverKeyInvalidated"
        case .serverKeyReplaced: "serverKeyReplaced"
        case .serverKeyRemoved: "serverKeyRemoved"
        case .serverKeyBlocked: "serverKeyBlocked"
        case .tooManyServers: "tooManyServers"
        case .noSigningKey: "noSigningKey"
        case .signingKeyInvalidated: "signingKeyInvalidated"
        case .signingKeyExists: "signingKeyExists"
        case .unknownMacToken: "unknownMacToken"
        case .tooManyMacTokens: "tooManyMacTokens"
        case .readingTokenWanted: "readingTokenWanted"
        case .unknownOperation: "unknownOperation"
        case .operationOver: "operationOver"
        case .serverTooLongAgo: "serverTooLongAgo"
        case .serverLost: "serverLost"
        case .serverBusy: "serverBusy"
        case .clockSetBack: "clockSetBack"
        case .printsDamaged: "printsDamaged"
        case .noPassword: "noPassword"
        case .accountExpired: "accountExpired"
        case .passwordExpired: "passwordExpired"
        case .notAttestable: "notAttestable"
        case .noPasswordKey: "noPasswordKey"
        case .passwordKeyStale: "passwordKeyStale"
        case .passwordElsewhere: "passwordElsewhere"
        case .passwordNotAccepted: "passwordNotAccepted"
        case .fingerNotAccepted: "fingerNotAccepted"
        case .unknownSession: "unknownSession"
        case .sessionOver: "sessionOver"
        case .sessionsUnknown: "sessionsUnknown"
        case .sshHandleMalformed: "sshHandleMalformed"
        case .sshHandleOfOtherMachine: "sshHandleOfOtherMachine"
        case .sshHandleOfOtherAccount: "sshHandleOfOtherAccount"
        case .unknownSshKey: "unknownSshKey"
        case .sshKeyInvalidated: "sshKeyInvalidated"
        case .sshKeyExists: "sshKeyExists"
        case .tooManySshKeys: "tooManySshKeys"
        case .sshDataRefused: "sshDataRefused"
        case .sshOtherKey: "sshOtherKey"
        case .sshApplicationRefused: "sshApplicationRefused"
        case .passwordOnly: "passwordOnly"
        case .sshGrantsOff: "sshGrantsOff"
        case .settingsNotUnderstood: "settingsNotUnderstood"
        case .accountNameUnusable: "accountNameUnusable"
        }
    }
}

extension InvalidationCause: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .fingerAdded: "fingerAdded"
        case .fingerRemoved: "fingerRemoved"
        case .fingerReplaced: "fingerReplaced"
        case .printDamaged: "printDamaged"
        case .credentialDamaged: "credentialDamaged"
        case .hostSecretChanged: "hostSecretChanged"
        case .fingerAddedOnReader: "fingerAddedOnReader"
        case .fingerRemovedOnReader: "fingerRemovedOnReader"
        case .readerExchanged: "readerExchanged"
        case .tpmExchanged: "tpmExchanged"
        case .accountReplaced: "accountReplaced"
        case .passwordReplaced: "passwordReplaced"
        }
    }
}

extension CredentialState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .none: "none"
        case .valid: "valid"
        case .disabled: "disabled"
        case .invalidated: "invalidated"
        }
    }
}

extension KeyringState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .off: "off"
        case .on: "on"
        case .passwordChanged: "passwordChanged"
        case .fingersChanged: "fingersChanged"
        case .damaged: "damaged"
        }
    }
}

extension LockState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .open: "open"
        case .forNow: "forNow"
        case .untilPassword: "untilPassword"
        }
    }
}

extension NoticeKind: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .touch: "touch"
        case .waiting: "waiting"
        case .retry: "retry"
        case .noMatch: "noMatch"
        case .stage: "stage"
        case .fingerPresent: "fingerPresent"
        case .fingerGone: "fingerGone"
        case .passwordStale: "passwordStale"
        case .askingServer: "askingServer"
        case .contended: "contended"
        case .preparing: "preparing"
        case .printLost: "printLost"
        case .offer: "offer"
        case .tpm: "tpm"
        }
    }
}

extension RetryReason: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .unclear: "unclear"
        case .tooShort: "tooShort"
        case .offCentre: "offCentre"
        case .removeFinger: "removeFinger"
        case .tooFast: "tooFast"
        case .restarted: "restarted"
        case .unplugged: "unplugged"
        }
    }
}

extension SecretState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .stale: "stale"
        case .fits: "fits"
        case .damaged: "damaged"
        }
    }
}

extension ServerKeyState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .good: "good"
        case .invalidated: "invalidated"
        case .removing: "removing"
        }
    }
}

extension ScanType: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .press: "press"
        case .swipe: "swipe"
        }
    }
}

extension ImportOutcome: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .imported: "imported"
        case .known: "known"
        case .duplicate: "duplicate"
        case .fingerKnown: "fingerKnown"
        case .fingerTaken: "fingerTaken"
        case .full: "full"
        case .noReader: "noReader"
        case .notOnReader: "notOnReader"
        case .readerFailed: "readerFailed"
        case .otherReader: "otherReader"
        case .otherFinger: "otherFinger"
        case .otherAccount: "otherAccount"
        case .malformed: "malformed"
        case .tooLarge: "tooLarge"
        case .foreign: "foreign"
        case .notPlain: "notPlain"
        case .otherOwner: "otherOwner"
        case .writable: "writable"
        case .linked: "linked"
        case .unreadable: "unreadable"
        case .tooMany: "tooMany"
        }
    }
}

extension OperationState: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .pending: "pending"
        case .approved: "approved"
        case .rejected: "rejected"
        case .canceled: "canceled"
        case .expired: "expired"
        case .failed: "failed"
        }
    }
}

extension OperationChoice: ProtocolNamed {
    package var protocolName: String {
        switch self {
        case .approve: "approve"
        case .reject: "reject"
        }
    }
}
