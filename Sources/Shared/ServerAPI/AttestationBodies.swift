// SPDX-License-Identifier: Apache-2.0
import Domain

// What a device sends to prove that its key is in a genuine TPM, in the forms of TPM 2.0 part 2.
// docs/developer/SERVER-INTEGRATE.md describes the steps.

/// What the application of an activation code requires of devices; nothing is changed by asking.
package struct RegistrationRequirements: Codable, Sendable {
    /// The application's name.
    package let application: String
    /// Where keys must be held.
    package let keys: KeyRequirement
    /// Whether the device must have booted with Secure Boot.
    package let secureBoot: BootRequirement
    /// Whether this server checks attestations.
    package let attestation: Bool
    /// The factors by which a device may be registered; nil from a server that does not say.
    package let factors: [KeyFactor]?

    /// Creates an answer from its fields.
    package init(
        application: String, keys: KeyRequirement, secureBoot: BootRequirement, attestation: Bool,
        factors: [KeyFactor]
    ) {
        self.factors = factors
        self.application = application
        self.keys = keys
        self.secureBoot = secureBoot
        self.attestation = attestation
    }
}

/// A device's TPM, before it has proven anything.
package struct AttestationRequest: Codable, Sendable {
    /// The certificate of its endorsement key, in DER.
    package let certificate: Binary
    /// The public area of its attestation key: a TPMT_PUBLIC.
    package let key: Binary
}

/// A secret that only that TPM can read, while it has that attestation key.
package struct AttestationChallenge: Codable, Sendable {
    /// The secret: a TPM2B_ID_OBJECT without its length.
    package let credential: Binary
    /// Its seed: a TPM2B_ENCRYPTED_SECRET without its length.
    package let seed: Binary
    /// When it expires, in seconds since 1970.
    package let expires: Int64
}

/// What the TPM has stated about a device's new key, as part of the key's proof.
///
/// The qualifying data of each statement is the SHA-256 of the proof's `statement`.
package struct KeyAttestation: Codable, Sendable {
    /// The secret of the `AttestationChallenge`.
    package let secret: Binary
    /// The public area of the new key: a TPMT_PUBLIC.
    package let area: Binary
    /// The PCRs that the key is bound to: the three bytes of a TPMS_PCR_SELECTION.
    package let registers: Binary
    /// The SHA-256 of their values; empty if there are none.
    package let registerDigest: Binary
    /// What TPM2_Certify said of the new key.
    package let certification: TPMStatement
    /// What TPM2_Quote said of PCR 7; nil if the device has no log to explain it.
    package let quote: TPMStatement?
    /// The measurements that led to the value of PCR 7; present with `quote`.
    package let log: Binary?
}

/// A statement of a TPM, signed by its attestation key.
package struct TPMStatement: Codable, Sendable {
    /// The TPMS_ATTEST.
    package let statement: Binary
    /// The TPMT_SIGNATURE.
    package let signature: Binary
}
