// SPDX-License-Identifier: Apache-2.0
import HTTPServer

// Pages for a browser that is signed in, and signing out.
extension Site {
    /// `GET /`: shows the person's own devices, operations and audit lines.
    ///
    /// The server is asked each time whether the session may continue, so a device that is blocked
    /// has its browsers signed out at once.
    func showHome(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        switch await browsers.state(of: call.cookie) {
        case .unknown: return ("ok", .seeOther(SitePath.signIn))
        case .waiting: return ("ok", .seeOther(SitePath.waiting))
        case .signedIn(let session):
            guard try await isGood(session, call: call) else {
                return ("over", .seeOther(SitePath.signIn))
            }
            let server = server
            let own = try await asked { () async throws(CallFault) in
                PersonRecords(
                    devices: try await server.devices(of: session.account),
                    operations: try await server.operations(of: session.account),
                    receipts: try await server.receipts(of: session.account))
            }
            return ("ok", try homePage(own, of: session, call: call))
        }
    }

    /// `POST /sign-out`: ends the browser's session, and its tokens at the server.
    func signOut(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: settings.origin)
        await end(call)
        return ("ok", .seeOther(SitePath.signedOut, headers: [settings.origin.unsetting]))
    }

    /// Whether a session may continue; if not, it is removed.
    func isGood(_ session: BrowserSession, call: PageCall) async throws(PageFault) -> Bool {
        let server = server
        let isGood = try await asked { () async throws(CallFault) in
            try await session.isGood(at: server)
        }
        if !isGood, let cookie = call.cookie { await browsers.signOut(cookie) }
        return isGood
    }

    /// Ends the session of the calling browser, if it has one.
    ///
    /// If the server cannot be asked, the tokens are only discarded here and are valid until they
    /// expire; no other program has them.
    func end(_ call: PageCall) async {
        guard let cookie = call.cookie, let session = await browsers.signOut(cookie) else { return }
        do throws(CallFault) {
            try await server.revoke(await session.tokens)
        } catch { report("a session was ended here, but not at the server: \(error)") }
    }
}

/// The records about a person that the home page shows.
struct PersonRecords: Sendable {
    /// The newest first, as in the other two lists.
    let devices: [Device]
    let operations: [Operation]
    let receipts: [Receipt]
}
