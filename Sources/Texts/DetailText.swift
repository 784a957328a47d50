#if !hasFeature(Embedded)
import Wire

/// What the daemon says more about a denial. It is sent in English, and looked up when it is shown:
/// see `Text.Interpolation.appendInterpolation(detail:)`.
package enum Detail {
    /// A secret or a password does not open with the TPM as it is, and the key does.
    package static let sealedInOtherState: Text =
        "it was sealed in another state of the system (PCR): set it again"
    /// The same, and it is not known why.
    package static let sealedDoesNotOpen: Text = "what was sealed does not open"
    /// A key was moved to the other vault, and the fingerprints were not.
    package static let printsNotMoved: Text = "the fingerprints did not move, run it again"
    /// A secret's record cannot be read.
    package static let secretDamaged: Text = "the secret is damaged: delete it, or set it again"
    /// A receipt in the log cannot be read.
    package static let receiptDamaged: Text = "a damaged receipt"
    /// The log ends with something else than a receipt.
    package static let receiptsEndInDamage: Text = "the receipts end in damage"

    /// What the vaults say, in `VaultError` and `VaultTrouble`; `reason` is in the words of a library.
    package static func vault(_ reason: Bytes) -> [Text] {
        [
            "the sealed key does not open", "not a sealed key of this vault",
            "there is no usable TPM: \(reason)", "the TPM may not be used: \(reason)",
            "the TPM is in lockout after wrong authorisations",
            "the TPM was cleared or is another one", "the TPM has no room left",
            "the system was started in another state (PCR) than the key allows",
            "the TPM does not answer", "the TPM failed: \(reason)",
            "other accounts' fingerprints, to compare with: \(reason)",
        ]
    }
}
#endif
