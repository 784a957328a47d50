// SPDX-License-Identifier: Apache-2.0
import HTTP

/// A page as browsers get it.
struct SitePage: Sendable {
    /// What the browser's tab says, and the heading.
    let title: String
    /// Behind the heading.
    let content: HTML
    /// Beside the site's name.
    var menu: HTML = ""
    /// Where its style sheet is.
    var style = SitePath.style

    /// The whole document.
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

    /// The answer with this page.
    func response(
        _ status: Int = 200, _ headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [("Content-Type", "text/html; charset=utf-8"), SiteHeaders.notKept]
                + SiteHeaders.guarding + headers,
            body: [UInt8](document.text.utf8))
    }
}

/// Headers of all answers of the site.
enum SiteHeaders {
    /// Nothing that a page shows stays behind in the browser.
    static let notKept = (name: "Cache-Control", value: "no-store")

    /// No script, no frame around it, nothing from elsewhere, no form to elsewhere, and nobody else
    /// is told where the person was. With `no-referrer`, browsers would not say either to the site
    /// itself where a form comes from (Fetch, section 3.2): so not that.
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
    /// Another page, which is asked for with GET.
    static func seeOther(
        _ path: String, _ headers: [(name: String, value: String)] = []
    ) -> HTTPResponse {
        HTTPResponse(
            status: 303,
            headers: [("Location", path), SiteHeaders.notKept] + SiteHeaders.guarding + headers)
    }

    /// The same page, asked for by the site itself: with that request browsers show the cookie.
    static func again(_ path: String) -> HTTPResponse {
        SitePage(
            title: "One moment", content: #"<p><a href="\#(path)">Go on to this site</a></p>"#
        ).response(200, [("Refresh", "0; url=\(path)")])
    }

    /// How the pages look.
    static let styleSheet = styleSheet([("Cache-Control", "max-age=300")])

    /// The same for who was just signed out: with it the browser drops the pages that it keeps
    /// ready for its back button. Chromium keeps those with `no-store` too, and drops them only if
    /// it is told when another page is there already.
    static let forgettingStyleSheet = styleSheet([
        SiteHeaders.notKept, ("Clear-Site-Data", "\"cache\""),
    ])

    private static func styleSheet(_ headers: [(name: String, value: String)]) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            headers: [("Content-Type", "text/css; charset=utf-8")] + SiteHeaders.guarding
                + headers, body: [UInt8](SiteStyle.sheet.utf8))
    }

    /// A refusal, for a person.
    static func problemPage(_ problem: Problem) -> HTTPResponse {
        let (title, advice) = ProblemText.of(problem)
        let content: HTML = """
            <p>\(advice)</p>
            <p><a href="\(SitePath.home)">Back to the start</a></p>
            """
        return SitePage(title: title, content: content).response(
            problem.status, problem.headers.map { (name: $0.key, value: $0.value) })
    }
}

/// What a person is told of a refusal, and can do.
private enum ProblemText {
    static func of(_ problem: Problem) -> (title: String, advice: String) {
        switch problem.status {
        case 403:
            (
                "This form is not taken",
                """
                It was sent from another page, or is from before you signed in or out, or your \
                browser keeps no cookies. Open the page anew and try again.
                """
            )
        case 404: ("There is no such page", "The address may be mistyped.")
        case 405: ("This page is not used in this way", "Open it as a link.")
        case 413, 415, 400:
            ("This form cannot be read", "Open the page anew and fill it in again.")
        case 429:
            (
                "Too many tries",
                "Wait \(problem.headers["Retry-After"] ?? "60") seconds, then try again."
            )
        default: ("Not now", "The server cannot answer at the moment. Try again in a minute.")
        }
    }
}
