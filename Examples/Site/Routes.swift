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
        _ method: String, path: String,
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
        Route("GET", path: SitePath.home) { site, call throws(PageFault) in
            try await site.showHome(call)
        },
        Route("GET", path: SitePath.signIn) { site, call throws(PageFault) in
            try await site.showSignIn(call)
        },
        Route("POST", path: SitePath.signIn) { site, call throws(PageFault) in
            try await site.signIn(call)
        },
        Route("GET", path: SitePath.waiting) { site, call throws(PageFault) in
            try await site.showWaiting(call)
        },
        Route("POST", path: SitePath.cancel) { site, call throws(PageFault) in
            try await site.cancel(call)
        },
        Route("POST", path: SitePath.signOut) { site, call throws(PageFault) in
            try await site.signOut(call)
        },
        Route("GET", path: SitePath.signedOut) { site, _ throws(PageFault) in
            ("ok", site.signedOutPage())
        },
        Route("GET", path: SitePath.style) { _, _ throws(PageFault) in ("ok", .styleSheet) },
        Route("GET", path: SitePath.forgettingStyle) { _, _ throws(PageFault) in
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
