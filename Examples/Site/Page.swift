// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// A page of the site, which needs no scripts.
struct Page: Sendable {
    /// The document's title and its heading.
    let title: String
    /// The content below the heading.
    let content: HTML
    /// The content beside the site's name in the header.
    var menu: HTML = ""
    /// The path of the page's style sheet.
    var style = SitePath.style

    /// The whole document, with all values escaped by `HTML`.
    var document: HTML {
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(title) – Signet</title>
        <link rel="stylesheet" href="\(style)">
        </head>
        <body>
        <header>
        <p><a href="\(SitePath.home)">Signet</a></p>
        \(menu)
        </header>
        <main>
        <h1>\(title)</h1>
        \(content)
        </main>
        </body>
        </html>

        """
    }

    /// The response with this page, which the browser must not store.
    func response(
        _ status: Int = 200, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [("Content-Type", "text/html; charset=utf-8"), PageHeaders.notKept]
                + PageHeaders.guarding + headers,
            body: [UInt8](document.text.utf8))
    }
}

/// Headers that all responses of the site share.
enum PageHeaders {
    /// Tells the browser not to store the page.
    static let notKept = (name: "Cache-Control", value: "no-store")

    /// Forbids scripts, framing, content and form targets of other sites, and referrers to them.
    ///
    /// `no-referrer` is not used, because it would also withhold the origin of this site's own
    /// forms (Fetch, section 3.2).
    static let guarding: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            """
            default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; \
            base-uri 'none'
            """
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

extension HTTPResponse {
    /// A redirect (303) to another page, which the browser then requests with GET.
    static func seeOther(
        _ path: String, headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: 303,
            headers: [("Location", path), PageHeaders.notKept] + PageHeaders.guarding + headers)
    }

    /// A page that makes the browser request the path again, from this site itself.
    ///
    /// Browsers then send the cookie, which they withhold after a link on another site.
    static func again(_ path: String) -> HTTPResponse {
        Page(
            title: "One moment", content: #"<p><a href="\#(path)">Go on to this site</a></p>"#
        ).response(200, headers: [("Refresh", "0; url=\(path)")])
    }

    /// The style sheet of all pages except the one shown after signing out.
    static let styleSheet = styleSheet([("Cache-Control", "max-age=300")])

    /// The style sheet of the page shown after signing out, which clears the browser's cache.
    ///
    /// Chromium keeps pages for its back button despite `no-store`, and drops them only if
    /// `Clear-Site-Data` arrives while another page is already shown.
    static let forgettingStyleSheet = styleSheet([
        PageHeaders.notKept, ("Clear-Site-Data", "\"cache\""),
    ])

    private static func styleSheet(_ headers: [(name: String, value: String)]) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [("Content-Type", "text/css; charset=utf-8")] + PageHeaders.guarding
                + headers, body: [UInt8](Style.sheet.utf8))
    }
}
