// SPDX-License-Identifier: Apache-2.0
import Sealing
import State

/// The records of an account whose credential fits its fingers, so that a touch could sign for it.
///
/// It is a copy of what was read; `stamp` shows later whether the records have changed since.
struct AccountSnapshot {
    let kept: AccountState
    let enrolment: Enrolment
    let credential: FoundCredential
    /// The state of the files when they were read.
    let stamp: AccountStamp
    /// The reader contents that were found during this touch; nil to use those recorded with the
    /// credential.
    var storage: [ReaderStorage]?
}

/// What guards are checked for.
enum GuardPurpose {
    /// A finger is about to be asked for. A credential that no longer fits is revoked, and readers
    /// are looked for anew.
    case touch
    /// Only a report is wanted. Nothing is changed, and nothing that the next touch needs is used
    /// up.
    case report
}
