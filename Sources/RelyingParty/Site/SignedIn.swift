// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SQL

// Pages for a browser that is signed in, and signing out.
extension Site {
    /// How many operations and audit lines are shown at most.
    private static let most: Int64 = 50

    /// `GET /site`: shows the person's own devices, operations and audit lines.
    func showHome(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        switch try await visitor(call) {
        case .nobody: return ("ok", .seeOther(SitePath.signIn))
        case .waiting: return ("ok", .seeOther(SitePath.waiting))
        case .signedIn(let signer, let session):
            let own = try await service.core.read { store throws(DatabaseFault) in
                PersonRecords(
                    devices: try store.registrations.list(ofAccount: signer.account.id).reversed(),
                    operations: try store.operations.latestOperations(
                        ofAccount: signer.account.id, most: Self.most),
                    receipts: try store.site.receipts(
                        of: signer.account, application: signer.application.name,
                        most: Self.most))
            }
            return ("ok", try homePage(own, of: signer, until: session.expires, call))
        }
    }

    /// `POST /site/sign-out`: ends the browser's session and the token session of its login.
    func signOut(_ call: SiteCall) async throws(Problem) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: address, service)
        if case .signedIn(let signer, let session) = try await visitor(call) {
            try await end(session, of: signer, call)
        }
        return ("ok", .seeOther(SitePath.signedOut, [address.unsetting]))
    }

    /// Ends the session of the calling browser, with the token session of its login.
    func end(_ session: SiteSession, of signer: Signer, _ call: SiteCall) async throws(Problem) {
        guard let cookie = call.cookie else { return }
        let now = service.core.now
        try await service.core.write { store throws(DatabaseFault) in
            try store.site.endSiteSession(cookie.digest)
            _ = try store.sessions.revoke(
                session: session.tokenSession, reason: SessionEnd.revoked, at: now)
            try store.auditTrail.note(entry(.revocation, signer, nil), from: call.origin, at: now)
            return .success(())
        }
    }
}

/// What the home page shows of a person.
struct PersonRecords: Sendable {
    /// Newest first.
    let devices: [RegistrationRecord]
    let operations: [OperationRecord]
    let receipts: [ListedAudit]
}
