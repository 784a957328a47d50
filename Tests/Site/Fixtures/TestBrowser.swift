// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import TestSupport

/// A browser at the site, as far as requests go: it keeps the cookie, and sends forms with what the
/// page had in them.
final class TestBrowser {
    let site: SiteProcess
    /// What it sends in `Cookie`.
    var cookie: String?
    /// What it says of where a form comes from.
    var origin: String?
    var peer = "192.0.2.7"
    /// The page that it shows.
    private(set) var page = ""

    init(_ site: SiteProcess) {
        self.site = site
        origin = site.url
    }

    /// Opens a page.
    @discardableResult
    func open(
        _ path: String, _ method: String = "GET", more: [(name: String, value: String)] = []
    ) throws -> HTTPAnswer {
        try send(method, path, headers + more, nil)
    }

    /// Sends a form, with the token of the page that it shows if none is given.
    @discardableResult
    func post(
        _ path: String, _ fields: String = "", token: String? = nil,
        more: [(name: String, value: String)] = [],
        type: String = "application/x-www-form-urlencoded"
    ) throws -> HTTPAnswer {
        let body = "token=\(try token ?? self.token)&\(fields)"
        var headers = headers + more
        headers.append(("Content-Type", type))
        if let origin { headers.append(("Origin", origin)) }
        return try send("POST", path, headers, body)
    }

    private var headers: [(name: String, value: String)] {
        [("User-Agent", "test")] + (cookie.map { [("Cookie", $0)] } ?? [])
    }

    private func send(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)],
        _ body: String?
    ) throws -> HTTPAnswer {
        let reply = try site.send(method, path, headers, body, from: peer)
        page = String(decoding: reply.body, as: UTF8.self)
        for header in reply.headers where header.name == "set-cookie" {
            let pair = header.value.prefix { $0 != ";" }
            cookie = pair.hasSuffix("=") ? nil : String(pair)
        }
        return reply
    }

    /// The token in the page's forms.
    var token: String {
        get throws { try found(#/name="token" value="([^"]*)"/#) }
    }

    /// The text that the device is said to show.
    var shown: String {
        get throws { try found(#/id="shown">([^<]*)</#) }
    }

    private func found(_ pattern: Regex<(Substring, Substring)>) throws -> String {
        guard let found = page.firstMatch(of: pattern) else {
            throw TestFault.closed(awaited: "what the page should have", transcript: page)
        }
        return String(found.output.1)
    }

    /// Begins a sign-in, and shows the page that waits.
    @discardableResult
    func begin(_ account: String = "alice") throws -> HTTPAnswer {
        try open("/sign-in")
        let begun = try post("/sign-in", "account=\(account)")
        guard begun.status == 303 else {
            throw TestFault.closed(awaited: "a sign-in", transcript: "\(begun.status) \(page)")
        }
        return try open("/waiting")
    }

    /// Signs in, with the approval of a device.
    func signIn(by device: SiteDevice) throws {
        try begin(device.account)
        try device.decide()
        guard try open("/waiting").location == "/" else {
            throw TestFault.closed(awaited: "to be signed in", transcript: page)
        }
        try open("/")
    }

    /// Whether it sees a person's devices.
    var isSignedIn: Bool {
        get throws { try open("/").status == 200 }
    }
}

extension HTTPAnswer {
    /// The value of the one header of this name.
    func header(_ name: String) -> String? {
        let found = headers.filter { $0.name == name.lowercased() }
        return found.count == 1 ? found[0].value : nil
    }

    /// Where it sends the browser.
    var location: String? { status == 303 ? header("Location") : nil }
}
