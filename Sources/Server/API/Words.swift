// SPDX-License-Identifier: Apache-2.0

/// How far a registration is.
enum RegistrationStatus: String, Codable, Sendable {
    case created = "CREATED"
    case pendingCommit = "PENDING_COMMIT"
    case active = "ACTIVE"
    case blocked = "BLOCKED"
    case removed = "REMOVED"
}

/// What became of an operation.
enum OperationStatus: String, Codable, Sendable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case failed = "FAILED"
}

/// What a signed challenge is to do: a challenge for one thing is good for no other.
enum ChallengeAction: String, Codable, Sendable {
    case register = "register"
    case login = "login"
    case macToken = "mac-token"
    case remove = "remove"
}

/// Where the pages are.
enum SitePath {
    static let home = "/site"
    static let signIn = "/site/sign-in"
    static let waiting = "/site/waiting"
    static let cancel = "/site/cancel"
    static let signOut = "/site/sign-out"
    static let signedOut = "/site/signed-out"
    static let style = "/site/style.css"
    static let forgettingStyle = "/site/signed-out.css"
}
