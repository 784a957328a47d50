// SPDX-License-Identifier: Apache-2.0
import Foundation
import HTTPServer
import SQL
import SQLSupport
import TestSupport

@testable import RelyingParty

/// A browser at the server's own page, as far as requests go: it keeps the cookie, and sends forms
/// with what the page had in them.
final class TestBrowser {
    let server: TestServer
    /// What it sends in `Cookie`.
    var cookie: String?
    /// What it says of where a form comes from.
    var origin: String? = "https://id.example.org"
    var peer = "192.0.2.7"
    /// The page that it shows.
    private(set) var page = ""

    init(_ server: TestServer) {
        self.server = server
    }

    /// A server with a site, and alice's device; the template is that of the manual.
    static func server(
        _ backend: Backend, rate: Int = 100_000, at url: String = "https://id.example.org"
    ) async throws -> (TestServer, TestDevice) {
        let server = try await TestServer.make(backend, rate: rate, site: SiteAddress(url))
        try await server.makeTemplate(
            "sign-in", "sign in from {address}\nthe page shows {code}", purpose: .login)
        let device = try TestDevice()
        try await server.register(device)
        return (server, device)
    }

    /// Opens a page.
    @discardableResult
    func open(_ path: String, _ method: String = "GET") async throws -> Reply {
        try await send(
            HTTPRequest(method: method, path: path, headers: headers, peer: peer))
    }

    /// Sends a form, with the token of the page that it shows if none is given.
    @discardableResult
    func post(
        _ path: String, _ fields: String = "", token: String? = nil,
        more: [(name: String, value: String)] = [],
        type: String = "application/x-www-form-urlencoded"
    ) async throws -> Reply {
        try await send(try form(path, fields, token: token, more: more, type: type))
    }

    /// A form as it would be sent.
    func form(
        _ path: String, _ fields: String = "", token: String? = nil,
        more: [(name: String, value: String)] = [],
        type: String = "application/x-www-form-urlencoded"
    ) throws -> HTTPRequest {
        let body = "token=\(try token ?? self.token)&\(fields)"
        var headers = headers + more
        headers.append(("content-type", type))
        if let origin { headers.append(("origin", origin)) }
        return HTTPRequest(
            method: "POST", path: path, headers: headers, body: [UInt8](body.utf8), peer: peer)
    }

    private var headers: [(name: String, value: String)] {
        [("user-agent", "test")] + (cookie.map { [("cookie", $0)] } ?? [])
    }

    private func send(_ request: HTTPRequest) async throws -> Reply {
        let reply = await server.answer(request)
        page = String(decoding: reply.bytes, as: UTF8.self)
        for header in reply.headers where header.name == "Set-Cookie" {
            let pair = header.value.prefix { $0 != ";" }
            cookie = pair.hasSuffix("=") ? nil : String(pair)
        }
        return reply
    }

    /// The token in the page's forms.
    var token: String {
        get throws {
            guard let found = page.firstMatch(of: #/name="token" value="([^"]*)"/#) else {
                throw Unexpected("no form in \(page)")
            }
            return String(found.output.1)
        }
    }

    /// The text that the device is said to show.
    var shown: String {
        get throws {
            guard let found = page.firstMatch(of: #/id="shown">([^<]*)</#) else {
                throw Unexpected("no text in \(page)")
            }
            return String(found.output.1)
        }
    }

    /// Begins a sign-in, and shows the page that waits.
    @discardableResult
    func begin(_ account: String = "alice") async throws -> Reply {
        try await open("/site/sign-in")
        let begun = try await post("/site/sign-in", "account=\(account)")
        guard begun.status == 303 else { throw Unexpected("not begun: \(begun.status) \(page)") }
        return try await open("/site/waiting")
    }

    /// Signs in, with the approval of a device.
    func signIn(by device: TestDevice) async throws {
        try await begin(device.account)
        _ = try await server.decide(try await server.latestOperation(), by: device)
        let reply = try await open("/site/waiting")
        guard reply.location == "/site" else { throw Unexpected("not signed in: \(page)") }
        try await open("/site")
    }

    /// Whether it sees somebody's devices.
    var isSignedIn: Bool {
        get async throws { try await open("/site").status == 200 }
    }
}

extension TestServer {
    /// The id of the operation that was made last.
    func latestOperation() async throws -> String {
        let rows = try await rows("SELECT id FROM operation WHERE status = 'PENDING'")
        guard rows.count == 1 else { throw Unexpected("\(rows.count) operations wait") }
        return hexadecimal(try rows[0].bytes(0))
    }
}

extension Reply {
    /// The value of the one header of this name.
    func header(_ name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// Where it sends the browser.
    var location: String? { status == 303 ? header("Location") : nil }
}
