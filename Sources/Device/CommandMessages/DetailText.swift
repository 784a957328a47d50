// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// The daemon's details of a denial. They are sent in English, and looked up when they are shown:
/// see `Text.Interpolation.appendInterpolation(detail:)`.
package enum Detail {
    /// A secret or password does not open with the TPM in its present state, although the key does.
    package static let sealedInOtherState: Text =
        "the secret or password was sealed in another state of the system (PCR): set it again"
    /// Sealed data does not open, for an unknown reason.
    package static let sealedDoesNotOpen: Text = "the sealed data cannot be opened"
    /// A key was moved to the other vault, but the fingerprints were not.
    package static let printsNotMoved: Text =
        "the fingerprints were not moved: run the command again"
    /// A secret's record cannot be read.
    package static let secretDamaged: Text = "the secret is damaged: delete it, or set it again"
    /// A receipt in the log cannot be read.
    package static let receiptDamaged: Text = "a receipt is damaged"
    /// The log does not end with a receipt.
    package static let receiptsEndInDamage: Text = "the end of the receipts is damaged"

    /// A reader does not support the request (`DenialReason.readerFailed`).
    package static let readerUnable: Text = "it does not support what was requested"
    /// A reader or its library refused a stored fingerprint.
    package static let printNotAccepted: Text = "it does not accept the stored fingerprint"
    /// Its driver reports details in its own words (libfprint's or libgusb's).
    package static let readerDriverFailed: Text =
        "its driver reports an error: see 'journalctl -t signetd'"
    /// The reader process ended twice, or cannot be reached.
    package static let readerProcessEnded: Text =
        "its process ended: see 'journalctl -u signet-reader'"

    /// Why no password is accepted (`DenialReason.noPassword`): the account has none.
    package static let passwordNone: Text = "the account has no password"
    /// The account's password is locked.
    package static let passwordLocked: Text = "the password is locked"

    /// Why this machine cannot prove its TPM to a server (`DenialReason.notAttestable`): new keys
    /// are stored in files.
    package static let keysInFiles: Text =
        "this machine stores keys in files: see 'signet vault'"
    /// The maker has not certified the TPM.
    package static let noEndorsement: Text =
        "its TPM has no endorsement certificate from its maker"
    /// The kernel shows no event log.
    package static let noEventLog: Text =
        "its firmware left no event log that could prove Secure Boot"
    /// The server's own settings do not allow what it requires.
    package static let serverChecksNothing: Text =
        "the server trusts no TPM makers: tell its administrator"

    /// The TPM is not the one that keys were made in.
    package static let anotherRoot: Text = "the TPM was cleared or is a different one"
    /// The sealed data is not what the vault opens.
    package static let doesNotOpen: Text = "the sealed key does not open"

    /// The messages of the vaults, `VaultError` and `VaultTrouble`; `reason` is a library's text.
    package static func vault(_ reason: Bytes) -> [Text] {
        [
            doesNotOpen, "not a sealed key of this vault",
            "there is no usable TPM: \(reason)", "access to the TPM was denied: \(reason)",
            "the TPM is in lockout after wrong authorisations",
            anotherRoot, "the TPM has no room left",
            "the system was booted in a state (PCR) that the key does not allow",
            "the TPM does not answer", "the TPM failed: \(reason)",
            "other accounts' fingerprints, needed for comparison: \(reason)",
        ]
    }
}
