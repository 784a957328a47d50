// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Why a request was refused, as RFC 9457 has it; the codes are stable and in docs/developer/SERVER.md.
package struct Problem: Error, Equatable, Sendable {
    /// The HTTP status.
    package let status: Int
    /// What programs branch on: lower case, words joined by hyphens.
    package let code: String
    /// What a person reads.
    package let title: String
    /// More header fields of the answer.
    package var headers: [String: String] = [:]
    /// How many tries are left, where that may be told.
    package var remainingAttempts: Int64?

    /// From its parts.
    package init(status: Int, code: String, title: String, headers: [String: String] = [:]) {
        self.status = status
        self.code = code
        self.title = title
        self.headers = headers
    }
}

extension Problem {
    /// Not the JSON, or not the fields, that the call wants.
    static func malformed(_ what: String) -> Problem {
        Problem(status: 400, code: "malformed", title: what)
    }
    /// The proof does not hold; nothing more is told.
    static let refused = Problem(status: 401, code: "refused", title: "the proof does not hold")
    /// The request itself is to be signed, or to have a MAC.
    static let unauthenticated = Problem(
        status: 401, code: "refused", title: "the request is to be signed by a registered device",
        headers: ["WWW-Authenticate": "Signet, SignetMAC"])
    /// A request's code was issued too long ago, or ahead of the server's clock.
    static let clock = Problem(
        status: 401, code: "clock",
        title: "the code is more than 30 seconds from the server's time: check the device's clock")
    /// A request's code was used before.
    static let replayed = Problem(
        status: 401, code: "replayed", title: "the code was used before")
    /// The activation code is unknown, used or too old: which, is not told.
    static let activationRefused = Problem(
        status: 401, code: "activation-refused",
        title: "the activation code is not good, or not any more: ask for a new one")
    /// Another device took this one's place.
    static let keyReplaced = Problem(
        status: 401, code: "key-replaced", title: "another device was registered in place of this")
    /// The registration was removed.
    static let keyRemoved = Problem(
        status: 401, code: "key-removed", title: "this device's registration was removed")
    /// The registration is blocked.
    static let keyBlocked = Problem(
        status: 401, code: "key-blocked", title: "this device's registration is blocked")
    /// The token is unknown, used, revoked or too old.
    static let tokenRefused = Problem(
        status: 401, code: "token-refused", title: "the token is not good, or not any more")
    /// No API key, or one that does not hold.
    static let apiKeyRefused = Problem(
        status: 401, code: "api-key-refused", title: "an API key is wanted that holds",
        headers: ["WWW-Authenticate": "Bearer"])
    /// The policy does not allow this factor or this machine's integrity.
    static let policy = Problem(
        status: 403, code: "policy",
        title: "the application does not accept this factor, or keys kept like this one")
    /// No such path, or nothing of that id in this application.
    static let notFound = Problem(status: 404, code: "not-found", title: "there is nothing here")
    /// The state does not allow it.
    static func conflict(_ what: String) -> Problem {
        Problem(status: 409, code: "conflict", title: what)
    }
    /// The account is let in no more: nothing is begun for it.
    static let accountBlocked = Problem.conflict("the account is blocked")
    /// The body is over the limit.
    static let tooLarge = Problem(status: 413, code: "too-large", title: "the body is too large")
    /// The body is not said to be JSON.
    static let notJSON = Problem(
        status: 415, code: "not-json", title: "the body is to be application/json")
    /// Too many tries from one address.
    static func slowDown(seconds: Int) -> Problem {
        Problem(
            status: 429, code: "slow-down", title: "too many tries: wait a little",
            headers: ["Retry-After": String(seconds)])
    }
    /// The database does not answer, or has no room.
    static let unavailable = Problem(
        status: 503, code: "unavailable", title: "not now: try again later",
        headers: ["Retry-After": "5"])
}
