// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Sealing
import State

/// The records of an account whose credential fits its fingers, so that a touch could sign for it.
///
/// Only `Credentials.revokingSnapshot` and `Credentials.snapshot` make one. It is a copy of what was read at one
/// moment; `stamp` shows later, without reading the records again, whether their files have changed
/// since.
struct AccountSnapshot {
    let kept: AccountState
    let enrolment: Enrolment
    let credential: StoredCredential
    /// The state of the files just before they were read.
    let stamp: AccountStamp
    /// The contents of the readers as found during this touch, which the key is opened with.
    ///
    /// Nil to use the contents recorded with the credential.
    var storage: [ReaderStorage]?
}

/// What guards are checked for, which decides whether checking may change anything.
enum GuardPurpose {
    /// A finger is about to be asked for.
    ///
    /// A credential that no longer fits is revoked, and readers are looked for again.
    case touch
    /// The result is only reported.
    ///
    /// Nothing is changed, and nothing that the next touch needs is used up.
    case report
}

/// What the guards of an account have found out about its fingers.
struct GuardedFingers {
    /// Why none of them may be tried now; nil if they may.
    var lockout: Denial?
    /// The account's records; nil if nothing is known about its fingers.
    var kept: AccountState?
    /// Its prints; empty if nothing is known about them.
    var prints: [StoredPrint] = []
}
