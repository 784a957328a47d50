// SPDX-License-Identifier: Apache-2.0
import Domain
import ServerAPI

/// The signed content of a callback.
///
/// `iss` to `jti` are as in RFC 7519. The type in the header, the audience and the absence of `sub`
/// each tell it from an access token, so that neither can be taken for the other.
struct CallbackClaims: Encodable, Sendable {
    /// How long a callback may be accepted after it was signed, in seconds.
    static let seconds: Int64 = 300

    let iss: String
    /// The URL that it is sent to, as the administrator has set it.
    let aud: String
    /// When this attempt was signed.
    let iat: Int64
    let exp: Int64
    /// The event's id, the same for each attempt.
    let jti: CallbackEventID
    let type: String
    /// When the event happened.
    let time: Int64
    let application: String
    let account: String
    /// The registration that the event is about, or that decided the operation.
    let registration: RegistrationID?
    let operation: OperationID?
    /// `operation` or `login`; nil unless the event is about an operation.
    let purpose: String?
    /// Why a registration was blocked or removed.
    let reason: String?
}
