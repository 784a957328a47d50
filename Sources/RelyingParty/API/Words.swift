// SPDX-License-Identifier: Apache-2.0

/// The status of a registration; the raw values are part of API and database.
enum RegistrationStatus: String, Codable, Sendable {
    case created = "CREATED"
    case pendingCommit = "PENDING_COMMIT"
    case active = "ACTIVE"
    case blocked = "BLOCKED"
    case removed = "REMOVED"
}

/// The status of an operation; the raw values are part of API and database.
enum OperationStatus: String, Codable, Sendable {
    case pending = "PENDING"
    case approved = "APPROVED"
    case rejected = "REJECTED"
    case canceled = "CANCELED"
    case expired = "EXPIRED"
    case failed = "FAILED"
}

/// What a challenge is for; a challenge for one action is invalid for any other.
enum ChallengeAction: String, Codable, Sendable {
    case register = "register"
    case login = "login"
    case macToken = "mac-token"
    case remove = "remove"
}

/// The paths of the pages.
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
