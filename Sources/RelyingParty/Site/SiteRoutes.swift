// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// A row of the table of pages; a page without a row is not served.
struct SiteRoute: Sendable {
    let method: String
    /// The exact path.
    let path: String
    /// Returns the outcome for the log, and the page.
    let answer: @Sendable (Site, SiteCall) async throws(Problem) -> (String, HTTPResponse)

    init(
        _ method: String, _ path: String,
        _ answer:
            @escaping @Sendable (Site, SiteCall) async throws(Problem) -> (String, HTTPResponse)
    ) {
        self.method = method
        self.path = path
        self.answer = answer
    }
}

/// The table of all pages.
///
/// GET requests change nothing, with one exception: the page that waits for an approved login turns
/// it into a session of the browser that began it.
enum SiteRoutes {
    static let all: [SiteRoute] = [
        SiteRoute("GET", "/") { _, _ throws(Problem) in ("ok", .seeOther(SitePath.home)) },
        SiteRoute("GET", SitePath.home) { site, call throws(Problem) in
            try await site.showHome(call)
        },
        SiteRoute("GET", SitePath.signIn) { site, call throws(Problem) in
            try await site.showSignIn(call)
        },
        SiteRoute("POST", SitePath.signIn) { site, call throws(Problem) in
            try await site.signIn(call)
        },
        SiteRoute("GET", SitePath.waiting) { site, call throws(Problem) in
            try await site.showWaiting(call)
        },
        SiteRoute("POST", SitePath.cancel) { site, call throws(Problem) in
            try await site.cancel(call)
        },
        SiteRoute("POST", SitePath.signOut) { site, call throws(Problem) in
            try await site.signOut(call)
        },
        SiteRoute("GET", SitePath.signedOut) { site, _ throws(Problem) in
            ("ok", site.signedOutPage())
        },
        SiteRoute("GET", SitePath.style) { _, _ throws(Problem) in ("ok", .styleSheet) },
        SiteRoute("GET", SitePath.forgettingStyle) { _, _ throws(Problem) in
            ("ok", .forgettingStyleSheet)
        },
    ]
}
