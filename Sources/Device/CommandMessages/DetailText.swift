// SPDX-License-Identifier: Apache-2.0
import LoginMessages
import LoginProtocol

/// What the daemon says more about a denial. It is sent in English, and looked up when it is shown:
/// see `Text.Interpolation.appendInterpolation(detail:)`.
package enum Detail {
    /// A secret or a password does not open with the TPM as it is, and the key does.
    package static let sealedInOtherState: Text =
        "the secret or password was sealed in another state of the system (PCR): set it again"
    /// The same, and it is not known why.
    package static let sealedDoesNotOpen: Text = "the sealed data cannot be opened"
    /// A key was moved to the other vault, and the fingerprints were not.
    package static let printsNotMoved: Text =
        "the fingerprints were not moved: run the command again"
    /// A secret's record cannot be read.
    package static let secretDamaged: Text = "the secret is damaged: delete it, or set it again"
    /// A receipt in the log cannot be read.
    package static let receiptDamaged: Text = "a receipt is damaged"
    /// The log ends with something else than a receipt.
    package static let receiptsEndInDamage: Text = "the end of the receipts is damaged"

    /// A reader cannot do what was asked of it (`DenialReason.readerFailed`).
    package static let readerUnable: Text = "it does not support what was requested"
    /// A reader or its library refused a stored fingerprint.
    package static let printNotAccepted: Text = "it does not accept the stored fingerprint"
    /// Its driver says more than that, in words of its own (libfprint's or libgusb's).
    package static let readerDriverFailed: Text =
        "its driver reports an error: see 'journalctl -t signetd'"
    /// The process of the readers ended, twice, or cannot be asked.
    package static let readerProcessEnded: Text =
        "its process ended: see 'journalctl -u signet-reader'"

    /// Why no password is accepted (`DenialReason.noPassword`): the account has none.
    package static let passwordNone: Text = "the account has no password"
    /// It has one that was locked.
    package static let passwordLocked: Text = "the password is locked"

    /// The vault: its TPM is not the one that keys were made in.
    package static let anotherRoot: Text = "the TPM was cleared or is a different one"
    /// The vault: what was sealed is not what it would open.
    package static let doesNotOpen: Text = "the sealed key does not open"

    /// What the vaults say, in `VaultError` and `VaultTrouble`; `reason` is in the words of a library.
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
