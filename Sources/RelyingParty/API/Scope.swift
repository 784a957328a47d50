// SPDX-License-Identifier: Apache-2.0
/// What an API key may be used for; the raw values are used in the API, the database and commands.
enum Scope: String, CaseIterable, Sendable {
    /// Verifying request codes and access tokens.
    case verify = "verify"
    /// Activation codes, registrations and MAC tokens, and what happened to an account.
    case registrations = "registrations"
    /// Asking people for approvals, and reading and cancelling all that they are asked, logins
    /// included.
    case operations = "operations"
    /// Logins that are approved as operations, and no other operations.
    case logins = "logins"
    /// Administration of the key's own application; no call of applications accepts it in the place
    /// of another scope.
    case admin = "admin"
    /// Administration of the whole server.
    case server = "server"

    /// The scopes of keys that are made and changed only on the server's command line.
    static let ofAdministration: Set<Scope> = [.admin, .server]

    /// Every scope that calls of applications require; a key has these unless it is given others.
    static let ofApplications: [Scope] = [.verify, .registrations, .operations, .logins]
}

/// The scopes that a call accepts, at least one; a key must have one of them.
struct RequiredScopes: Equatable, Sendable {
    /// The scope that a key lacks, as the caller is told.
    let first: Scope
    private let other: Scope?

    init(_ first: Scope, or other: Scope? = nil) {
        self.first = first
        self.other = other
    }

    /// Whether one of a key's scopes is accepted.
    func isMet(by scopes: Set<Scope>) -> Bool {
        scopes.contains(first) || other.map(scopes.contains) ?? false
    }
}
