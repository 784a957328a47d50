// SPDX-License-Identifier: Apache-2.0
import ServerAPI

/// Why a request was refused, as problem details (RFC 9457).
///
/// The codes are stable, part of the API, and listed in docs/developer/SERVER-INTEGRATE.md. A refused proof
/// is answered with its code and no further reason, so that strangers learn nothing from it.
package struct Problem: Error, Equatable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// The word that programs compare: lower case, with hyphens.
    package let code: String
    /// The message for people.
    package let title: String
    /// Additional header fields of the response.
    package var headers: [String: String] = [:]
    /// How many failures are left before the block, if the caller may know that.
    package var remainingAttempts: Int64?
    /// The scope that the caller's API key lacks, by its name.
    package var scope: String?
    /// What of the policy is not fulfilled; nil if that is not the reason.
    package var requirement: PolicyRequirement?

    /// Creates a problem without `remainingAttempts`, `scope` and `requirement`.
    package init(status: Int, code: String, title: String, headers: [String: String] = [:]) {
        self.status = status
        self.code = code
        self.title = title
        self.headers = headers
    }
}

extension Problem {
    /// The body is not JSON, or does not have the fields that the call requires.
    static func malformed(_ what: String) -> Problem {
        Problem(status: 400, code: "malformed", title: what)
    }
    /// The proof is invalid; the answer does not say why.
    static let refused = Problem(status: 401, code: "refused", title: "the proof was not accepted")
    /// The request must be signed or carry a MAC.
    static let unauthenticated = Problem(
        status: 401, code: "refused", title: "the request must be signed by a registered device",
        headers: ["WWW-Authenticate": "Signet, SignetMAC"])
    /// The code's time differs too much from the server's clock, in either direction.
    static let clock = Problem(
        status: 401, code: "clock",
        title: "the code is more than 30 seconds from the server's time: check the device's clock")
    /// The request's code was used before.
    static let replayed = Problem(
        status: 401, code: "replayed", title: "the code was already used")
    /// The activation code is unknown, used or expired; the answer does not say which.
    static let activationRefused = Problem(
        status: 401, code: "activation-refused",
        title: "the activation code is unknown or has expired: ask for a new one")
    /// Another device was registered in place of this one.
    static let keyReplaced = Problem(
        status: 401, code: "key-replaced", title: "another device has replaced this one")
    /// The registration was removed.
    static let keyRemoved = Problem(
        status: 401, code: "key-removed", title: "this device's registration was removed")
    /// The registration or the account is blocked.
    static let keyBlocked = Problem(
        status: 401, code: "key-blocked", title: "this device's registration is blocked")
    /// The token is unknown, used, revoked or expired.
    static let tokenRefused = Problem(
        status: 401, code: "token-refused", title: "the token is invalid or has expired")
    /// The API key is missing or invalid.
    static let apiKeyRefused = Problem(
        status: 401, code: "api-key-refused", title: "a valid API key is required",
        headers: ["WWW-Authenticate": "Bearer"])
    /// The API key was revoked; only someone who has its secret is told.
    static let apiKeyRevoked = Problem(
        status: 401, code: apiKeyRefused.code, title: "this API key was revoked",
        headers: apiKeyRefused.headers)
    /// The API key has expired; only someone who has its secret is told.
    static let apiKeyExpired = Problem(
        status: 401, code: apiKeyRefused.code, title: "this API key has expired",
        headers: apiKeyRefused.headers)
    /// The API key is valid, and has none of the scopes that the call accepts; RFC 6750.
    static func scopeMissing(_ scope: Scope) -> Problem {
        var problem = Problem(
            status: 403, code: scopeMissingCode,
            title: "this API key lacks the scope '\(scope.rawValue)'",
            headers: [
                "WWW-Authenticate":
                    "Bearer error=\"insufficient_scope\", scope=\"\(scope.rawValue)\""
            ])
        problem.scope = scope.rawValue
        return problem
    }
    private static let scopeMissingCode = "scope-missing"
    /// Whether the caller's API key is the reason, not what it asked for.
    var isAboutAPIKey: Bool { code == Self.apiKeyRefused.code || code == Self.scopeMissingCode }
    /// The policy does not permit this factor, or the device's key or boot state.
    static func policy(_ requirement: PolicyRequirement) -> Problem {
        let title =
            switch requirement {
            case .factor: "the application's policy does not accept this factor"
            case .keys: "the application's policy does not accept keys that are held like this one"
            case .secureBoot: "the application's policy requires Secure Boot"
            }
        var problem = Problem(status: 403, code: "policy", title: title)
        problem.requirement = requirement
        return problem
    }
    /// What the device's TPM has stated, or whose TPM it is, is not accepted; the title says why.
    static func attestationRefused(_ why: String) -> Problem {
        Problem(
            status: 403, code: attestationRefusedCode,
            title: "the attestation was not accepted: \(why)")
    }
    private static let attestationRefusedCode = "attestation-refused"
    /// Whether what a TPM has stated is the reason.
    var isAboutAttestation: Bool { code == Self.attestationRefusedCode }
    /// There is no such path, or no such object in this application.
    static let notFound = Problem(status: 404, code: "not-found", title: "not found")
    /// The present state of the object does not permit the call.
    static func conflict(_ what: String) -> Problem {
        Problem(status: 409, code: "conflict", title: what)
    }
    /// The account is blocked, so nothing new can be begun for it.
    static let accountBlocked = Problem.conflict("the account is blocked")
    /// The body has a transfer coding, as a chunked one has, in place of a length.
    static let lengthRequired = Problem(
        status: 411, code: "length-required",
        title: "send the body with Content-Length and without Transfer-Encoding")
    /// The body is larger than the limit.
    static let tooLarge = Problem(status: 413, code: "too-large", title: "the body is too large")
    /// The content type is not JSON.
    static let notJSON = Problem(
        status: 415, code: "not-json", title: "the body must be application/json")
    /// Too many attempts from one address; `seconds` is when the next one is allowed.
    static func slowDown(seconds: Int) -> Problem {
        Problem(
            status: 429, code: "slow-down", title: "too many attempts: try again later",
            headers: ["Retry-After": String(seconds)])
    }
    /// The database does not answer or is full, or cryptography failed.
    static let unavailable = Problem(
        status: 503, code: "unavailable", title: "temporarily unavailable: try again later",
        headers: ["Retry-After": "5"])
}
