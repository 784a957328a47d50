// SPDX-License-Identifier: Apache-2.0
import HTTPServer

/// Why a page is not shown; each fault has a page of its own, which says nothing about accounts.
enum PageFault: Error, Equatable {
    /// The form came from another site, or from an earlier state of this browser.
    case foreignForm
    case malformedForm
    case notForm
    case tooLarge
    case noSuchPage
    /// The page has only these methods.
    case otherMethod([String])
    case slowDown(seconds: Int)
    /// The site cannot answer now; the text is for the log only.
    case notNow(String)

    var status: Int {
        switch self {
        case .foreignForm: 403
        case .malformedForm: 400
        case .notForm: 415
        case .tooLarge: 413
        case .noSuchPage: 404
        case .otherMethod: 405
        case .slowDown: 429
        case .notNow: 503
        }
    }

    /// The word for the fault in the log.
    var code: String {
        switch self {
        case .foreignForm: "foreign-form"
        case .malformedForm: "malformed"
        case .notForm: "not-form"
        case .tooLarge: "too-large"
        case .noSuchPage: "not-found"
        case .otherMethod: "method-not-allowed"
        case .slowDown: "slow-down"
        case .notNow: "unavailable"
        }
    }

    private var headers: [(name: String, value: String)] {
        switch self {
        case .otherMethod(let methods): [("Allow", methods.joined(separator: ", "))]
        case .slowDown(let seconds): [("Retry-After", "\(seconds)")]
        case .notNow: [("Retry-After", "5")]
        case .foreignForm, .malformedForm, .notForm, .tooLarge, .noSuchPage: []
        }
    }

    /// The fault for a request that the HTTP server itself refuses.
    init(refusedByServer status: Int) {
        switch status {
        case 413: self = .tooLarge
        case 503: self = .notNow("stopping")
        default: self = .malformedForm
        }
    }

    /// The page for the fault: what happened, and what the person can do.
    var page: HTTPResponse {
        let (title, advice) = text
        let content: HTML = """
            <p>\(advice)</p>
            <p><a href="\(SitePath.home)">Back to the start</a></p>
            """
        return Page(title: title, content: content).response(status, headers: headers)
    }

    private var text: (title: String, advice: String) {
        switch self {
        case .foreignForm:
            (
                "This form is not accepted",
                """
                It was sent from another page, or is from before you signed in or out, or your \
                browser keeps no cookies. Open the page again and try once more.
                """
            )
        case .noSuchPage: ("This page does not exist", "Check the address.")
        case .otherMethod: ("This page cannot be used in this way", "Open it as a link.")
        case .malformedForm, .notForm, .tooLarge:
            ("This form cannot be read", "Open the page again and fill it in once more.")
        case .slowDown(let seconds):
            ("Too many attempts", "Wait \(seconds) seconds, then try again.")
        case .notNow:
            ("Not now", "The server cannot answer at the moment. Try again in a minute.")
        }
    }
}
