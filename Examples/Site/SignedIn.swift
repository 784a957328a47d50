// SPDX-License-Identifier: Apache-2.0
import HTTPServer

// Pages for a browser that is signed in, and signing out.
extension Site {
    /// `GET /`: shows the person's own devices, operations and audit lines.
    ///
    /// The server is asked each time whether the session is still good, so a device that is blocked
    /// signs its browsers out at once.
    func showHome(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        switch await browsers.state(of: call.cookie) {
        case .unknown: return ("ok", .seeOther(SitePath.signIn))
        case .waiting: return ("ok", .seeOther(SitePath.waiting))
        case .signedIn(let session):
            guard try await isGood(session, call) else {
                return ("over", .seeOther(SitePath.signIn))
            }
            let server = server
            let own = try await asked { () async throws(CallFault) in
                PersonRecords(
                    devices: try await server.devices(of: session.account),
                    operations: try await server.operations(of: session.account),
                    receipts: try await server.receipts(of: session.account))
            }
            return ("ok", try homePage(own, of: session, call))
        }
    }

    /// `POST /sign-out`: ends the browser's session and the tokens of its login.
    func signOut(_ call: PageCall) async throws(PageFault) -> (String, HTTPResponse) {
        _ = try call.ownForm(at: settings.origin)
        await end(call)
        return ("ok", .seeOther(SitePath.signedOut, [settings.origin.unsetting]))
    }

    /// Whether a session is still good. One that is not is ended.
    func isGood(_ session: BrowserSession, _ call: PageCall) async throws(PageFault) -> Bool {
        let server = server
        let isGood = try await asked { () async throws(CallFault) in
            try await session.isGood(at: server)
        }
        if !isGood, let cookie = call.cookie { await browsers.signOut(cookie) }
        return isGood
    }

    /// Ends the session of the calling browser.
    ///
    /// Without the server, the tokens are only forgotten: nobody has them then, and they expire.
    func end(_ call: PageCall) async {
        guard let cookie = call.cookie, let session = await browsers.signOut(cookie) else { return }
        do throws(CallFault) {
            try await server.revoke(await session.tokens)
        } catch { report("a session was ended here, and not at the server: \(error)") }
    }
}

/// What the home page shows of a person.
struct PersonRecords: Sendable {
    /// Newest first, as the other two.
    let devices: [Device]
    let operations: [Operation]
    let receipts: [Receipt]
}
