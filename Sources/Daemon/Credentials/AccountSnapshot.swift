// SPDX-License-Identifier: Apache-2.0
import Store
import Vault

/// An account whose credential fits its fingers: a touch could sign for it.
struct AccountSnapshot {
    let kept: AccountState
    let enrolment: Enrolment
    let credential: FoundCredential
    /// How the records were from which this was read.
    let stamp: AccountStamp
    /// What readers keep, where that was found out anew; else what was recorded counts.
    var storage: [ReaderStorage]?
}

/// What guards are passed for.
enum GuardPurpose {
    /// A finger is to be asked for: what does not fit the fingers any more is revoked, and readers are
    /// looked for anew.
    case touch
    /// Somebody asks how things stand: nothing is changed, and what the next touch needs is not used
    /// up.
    case report
}
