// SPDX-License-Identifier: Apache-2.0
import Domain

/// A device's request to begin a registration.
package struct RegistrationRequest: Codable, Sendable {
    /// The activation code as a person typed it.
    package let code: String
    /// The device's id.
    package let device: DeviceID
    /// What its user calls it; nil from a device that has no name.
    package let deviceName: DeviceName?

    /// Creates a request from its fields.
    package init(code: String, device: DeviceID, deviceName: DeviceName? = nil) {
        self.code = code
        self.device = device
        self.deviceName = deviceName
    }
}

/// The challenge that a device's new key must sign, with the names to sign.
package struct BegunRegistration: Codable, Sendable {
    /// The registration's id.
    package let registration: RegistrationID
    /// The account's name at the server.
    package let account: String
    /// The application's name.
    package let application: String
    /// The audience to sign for.
    package let audience: String
    /// The challenge to sign.
    package let challenge: Challenge
    /// When it expires, in seconds since 1970.
    package let expires: Int64
    /// The factors that keys are accepted for; nil from a server that knows only touches.
    package let factors: [KeyFactor]?

    /// Creates an answer from its fields.
    package init(
        registration: RegistrationID, account: String, application: String, audience: String,
        challenge: Challenge, expires: Int64, factors: [KeyFactor]
    ) {
        self.factors = factors
        self.registration = registration
        self.account = account
        self.application = application
        self.audience = audience
        self.challenge = challenge
        self.expires = expires
    }
}

/// A device's new key for the password, and its signature over the statement that registers it.
///
/// The statement's purpose names the key (`PasswordKeyPurpose`). The signature is an SSHSIG blob in
/// the namespace `registration@signet`.
package struct NewPasswordKey: Codable, Sendable {
    /// The uncompressed point, 65 bytes.
    package let publicKey: Binary
    /// Its signature over the statement.
    package let signature: Binary
}

/// A signed challenge for a new password key, in place of the registration's present one.
package struct PasswordKeyRequest: Codable, Sendable {
    /// The statement, which a touch has signed.
    package let statement: Binary
    /// Its signature by the fingerprint key.
    package let signature: Binary
    /// The new key.
    package let passwordKey: NewPasswordKey

    /// The statement with its signature by the fingerprint key.
    package var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A device's new key, and the statement that it has signed.
///
/// The signature is an SSHSIG blob in the namespace `registration@signet`.
package struct RegistrationProof: Codable, Sendable {
    /// The uncompressed point, 65 bytes.
    package let publicKey: Binary
    /// The statement.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
    /// What the device's TPM says of the key; nil for a key that is not attested.
    package let attestation: KeyAttestation?
    /// The key for the password, which has signed the same statement; nil for none.
    package let passwordKey: NewPasswordKey?

    /// Creates a proof from its fields.
    package init(
        publicKey: Binary, statement: Binary, signature: Binary,
        attestation: KeyAttestation? = nil, passwordKey: NewPasswordKey? = nil
    ) {
        self.passwordKey = passwordKey
        self.publicKey = publicKey
        self.statement = statement
        self.signature = signature
        self.attestation = attestation
    }
}

/// A registration, as reported to its application and to its device.
package struct RegistrationState: Codable, Sendable {
    /// The registration's id.
    package let registration: RegistrationID
    /// The account's name at the server.
    package let account: String
    /// The device's id.
    package let device: DeviceID
    /// The id that the device has given the key; nil before the key is proven.
    package let credential: CredentialID?
    /// What the device calls itself; nil if it has given no name.
    package let deviceName: DeviceName?
    /// Its status.
    package let status: RegistrationStatus
    /// Why it is BLOCKED or REMOVED (`RemovalReason`, or `failures`); nil otherwise.
    package let reason: String?
    /// The key's fingerprint in the form of `ssh-keygen -l`; nil before the key is proven.
    package let fingerprint: String?
    /// Where the key is held; nil before it is proven.
    package let key: String?
    /// Whether the device was booted securely, as it says; nil before the key is proven.
    package let secureBoot: String?
    /// What the device's TPM has proven of both, perhaps nothing; nil before the key is proven.
    package let attested: [AttestedProperty]?
    /// The factors for which it has keys; nil from a server that knows only touches.
    package let factors: [KeyFactor]?
    /// The registration's flags.
    package let flags: [String]
    /// How many failures were counted.
    package let failures: Int64
    /// When it was begun, in seconds since 1970.
    package let created: Int64
    /// When it was last used, in seconds since 1970; nil if never.
    package let lastUsed: Int64?

    /// Creates a state from its fields.
    package init(
        registration: RegistrationID, account: String, device: DeviceID, credential: CredentialID?,
        deviceName: DeviceName?, status: RegistrationStatus, reason: String?, fingerprint: String?,
        key: String?,
        secureBoot: String?, attested: [AttestedProperty]?, factors: [KeyFactor],
        flags: [String], failures: Int64, created: Int64, lastUsed: Int64?
    ) {
        self.factors = factors
        self.registration = registration
        self.account = account
        self.device = device
        self.credential = credential
        self.deviceName = deviceName
        self.status = status
        self.reason = reason
        self.fingerprint = fingerprint
        self.key = key
        self.secureBoot = secureBoot
        self.attested = attested
        self.flags = flags
        self.failures = failures
        self.created = created
        self.lastUsed = lastUsed
    }
}
