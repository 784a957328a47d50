// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// A row of the table of pages; a path and method without a row is not served.
struct Route: Sendable {
    let method: String
    /// The exact path.
    let path: String
    /// Makes the page; returns the outcome for the log and the response.
    let answer: @Sendable (Site, PageCall) async throws(PageFault) -> (String, HTTPResponse)

    init(
        _ method: String, _ path: String,
        _ answer:
            @escaping @Sendable (Site, PageCall) async throws(PageFault) -> (String, HTTPResponse)
    ) {
        self.method = method
        self.path = path
        self.answer = answer
    }
}

/// The table of all pages.
///
/// GET requests change nothing, with one exception: the page that waits for an approval turns an
/// approved login into a session of the browser that began it.
enum Routes {
    static let all: [Route] = [
        Route("GET", SitePath.home) { site, call throws(PageFault) in
            try await site.showHome(call)
        },
        Route("GET", SitePath.signIn) { site, call throws(PageFault) in
            try await site.showSignIn(call)
        },
        Route("POST", SitePath.signIn) { site, call throws(PageFault) in
            try await site.signIn(call)
        },
        Route("GET", SitePath.waiting) { site, call throws(PageFault) in
            try await site.showWaiting(call)
        },
        Route("POST", SitePath.cancel) { site, call throws(PageFault) in
            try await site.cancel(call)
        },
        Route("POST", SitePath.signOut) { site, call throws(PageFault) in
            try await site.signOut(call)
        },
        Route("GET", SitePath.signedOut) { site, _ throws(PageFault) in
            ("ok", site.signedOutPage())
        },
        Route("GET", SitePath.style) { _, _ throws(PageFault) in ("ok", .styleSheet) },
        Route("GET", SitePath.forgettingStyle) { _, _ throws(PageFault) in
            ("ok", .forgettingStyleSheet)
        },
    ]
}

/// The paths of the pages.
enum SitePath {
    static let home = "/"
    static let signIn = "/sign-in"
    static let waiting = "/waiting"
    static let cancel = "/cancel"
    static let signOut = "/sign-out"
    static let signedOut = "/signed-out"
    static let style = "/style.css"
    static let forgettingStyle = "/signed-out.css"
}
