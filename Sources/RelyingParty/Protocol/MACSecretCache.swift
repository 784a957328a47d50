// SPDX-License-Identifier: Apache-2.0
import Domain

/// What is needed to verify a MAC: the part of a token, its registration and its application that
/// does not change.
///
/// The secret is sealed, as in the database, and is opened for each verification.
struct SealedMACSecret: Equatable, Sendable {
    /// The registration that the token belongs to.
    let registration: RegistrationID
    /// The application of that registration.
    let application: Int64
    /// The application's audience, which the MAC covers.
    let audience: String
    /// The secret, sealed by `RowSeal` for the token's row.
    let sealed: [UInt8]

    init(_ token: MACTokenRecord, of signer: Signer) {
        registration = token.registration
        application = signer.application.id
        audience = signer.application.audience
        sealed = token.sealed
    }
}

/// Caches the secrets of MAC tokens that have verified a MAC, by the token's id.
///
/// Whether a token may still be used is not cached: the transaction that decides reads the token
/// again, and compares it with what the MAC was verified by.
typealias MACSecretCache = ProvenItems<MACTokenID, SealedMACSecret>
