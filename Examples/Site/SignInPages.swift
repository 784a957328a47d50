// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SignedFormats

// The pages for signing in and out.
extension Site {
    /// The form for the account name; `refused` is an input that was not a valid name.
    func signInPage(_ call: PageCall, refused: String? = nil) throws(PageFault) -> HTTPResponse {
        let cookie: Cookie
        var headers: [(name: String, value: String)] = []
        if let own = call.cookie {
            cookie = own
        } else {
            cookie = try Cookie.fresh()
            headers.append(settings.origin.setting(cookie))
        }
        var state: HTML = ""
        var complaint: HTML = ""
        if refused != nil {
            state = #" aria-invalid="true" aria-describedby="account-complaint""#
            complaint = """
                <p class="alarm" id="account-complaint">Not an account name: it has 1 to 128 \
                letters, digits or other characters.</p>
                """
        }
        let content: HTML = """
            <p>No password is asked for. You approve the sign-in on a device that is registered for \
            your account.</p>
            <form method="post" action="\(SitePath.signIn)">
            \(try tokenField(cookie))
            \(complaint)
            <p><label for="account">Account name</label>
            <input id="account" name="account" value="\(refused ?? "")" required maxlength="128" \
            autocomplete="username" autocapitalize="none" spellcheck="false"\(state)></p>
            <p><button type="submit">Sign in</button></p>
            </form>
            """
        let title = refused == nil ? "Sign in" : "Sign in: please correct the name"
        return Page(title: title, content: content).response(
            refused == nil ? 200 : 400, headers: headers)
    }

    /// Shows the text that the device shows, until it is approved.
    ///
    /// The page reloads itself, unless the person has stopped that (WCAG 2.2, 2.2.1).
    func waitingPage(
        _ login: PendingLogin, call: PageCall, at now: Int64
    ) throws(PageFault) -> HTTPResponse {
        guard let cookie = call.cookie else { throw .foreignForm }
        let isStill = call.request.query.contains { $0 == ("refresh", "off") }
        let look: HTML =
            isStill
            ? """
            <p><a href="\(SitePath.waiting)?refresh=off">Check now whether it is approved</a></p>
            <p>This page does not update itself. \
            <a href="\(SitePath.waiting)">Update it automatically</a></p>
            """
            : """
            <p>This page checks every 4 seconds whether it is approved. \
            <a href="\(SitePath.waiting)?refresh=off">Stop automatic updates</a></p>
            """
        let content: HTML = """
            <p>On a device that is registered for your account, run <code>signet operations</code>. \
            It shows this text:</p>
            <p class="shown" id="shown">\(.lines(login.text))</p>
            <p>Approve it only if every character is the same. Reject anything that you did not \
            request.</p>
            <p>Time left: \(timeLeft(login.expires - now)), until \(moment(login.expires)).</p>
            \(look)
            <h2>Nothing to approve?</h2>
            <p>Check the account name. At most three sign-ins wait for an account, two of them from \
            one network. If there are more, wait a few minutes and sign in again.</p>
            <form method="post" action="\(SitePath.cancel)">
            \(try tokenField(cookie))
            <p><button type="submit">Cancel this sign-in</button></p>
            </form>
            """
        return Page(title: "Approve on your device", content: content).response(
            200, headers: isStill ? [] : [("Refresh", "4")])
    }

    /// The page after signing out.
    func signedOutPage() -> HTTPResponse {
        Page(
            title: "You are signed out",
            content: #"<p><a href="\#(SitePath.signIn)">Sign in again</a></p>"#,
            style: SitePath.forgettingStyle
        ).response()
    }

    /// The hidden field that proves that this browser was shown the form.
    func tokenField(_ cookie: Cookie) throws(PageFault) -> HTML {
        #"<input type="hidden" name="token" value="\#(try cookie.formToken)">"#
    }
}

extension HTTPResponse {
    /// The page for a sign-in that failed; the reason is not given.
    static let over = Page(
        title: "This sign-in has ended",
        content: """
            <p>It was not approved in time, or was used already. You are not signed in.</p>
            <p><a href="\(SitePath.signIn)">Sign in again</a></p>
            """
    ).response()
}

/// A time, readable for people and for programs.
func moment(_ seconds: Int64) -> HTML {
    let text = String(decoding: Instant(seconds: UInt64(clamping: seconds)).text, as: UTF8.self)
    let shown = text.dropLast().split(separator: "T").joined(separator: " ")
    return #"<time datetime="\#(text)">\#(shown) UTC</time>"#
}

private func timeLeft(_ seconds: Int64) -> String {
    let minutes = seconds / 60
    let rest = "\(seconds % 60) seconds"
    return minutes == 0 ? rest : "\(minutes) minutes and \(rest)"
}
