// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import SQLSupport
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

@Suite("The server's own page in Chromium")
struct SiteBrowserTests {
    private static let account = "alice <b>&amp;"

    @Test("is used, read and left as it should be, over HTTPS", arguments: Backend.allCases)
    func secure(backend: Backend) async throws {
        let home = try ServerHome(backend)
        let authority = try TestAuthority(home.scratch)
        let (server, device) = try await server(home, authority)
        #expect(try await use(server, device) == "__Host-signet")
    }

    @Test("is used, read and left as it should be, over plain HTTP of this machine")
    func plain() async throws {
        let (server, device) = try await server(ServerHome(.sqlite, url: "http://localhost"))
        #expect(try await use(server, device) == "signet")
    }

    /// A server with a site, and a device that is registered.
    private func server(
        _ home: ServerHome, _ authority: TestAuthority? = nil
    ) async throws -> (ServerProcess, TestDevice) {
        let first = try ServerProcess(home)
        try first.stop()
        let template = try home.administer(
            "template", "add", "shop", "sign-in", "sign in from {address}\nthe page shows {code}",
            "--purpose", "login")
        #expect(template.succeeded)
        let listen = authority?.settings() ?? ""
        let server = try ServerProcess(
            home, apiKey: first.apiKey,
            settings: "\(listen)\n[site]\nenabled = on\napplication = shop",
            client: authority?.client)
        let device = try TestDevice()
        device.account = Self.account
        device.audience = "\(home.url)/shop"
        try await server.register(device)
        return (server, device)
    }

    /// Lets a person in Chromium go the whole way; gives the cookie's name.
    private func use(_ server: ServerProcess, _ device: TestDevice) async throws -> String {
        let script = "\(Layout.package)/Tests/RelyingParty/Judges/browser.py"
        let browser = try Program(
            Command([
                "/usr/bin/python3", script, server.home.url, "\(server.port)", device.account,
            ]))
        do {
            try browser.expect("shown: ", within: .seconds(120))
            let data = try await approve(server, device)
            let outcome = try browser.expectEnd(within: .seconds(120))
            #expect(outcome.succeeded, "\(outcome.output)\n\(outcome.errors)")
            #expect(try said("shown", outcome) == data)
            let seen = try said("seen", outcome)
            for text in [
                Self.account, hexadecimal(device.id), "approved by it", "approved sign-in",
                try #require(keyFingerprint(device.key.publicPoint)),
            ] { #expect(seen.contains(text), "\(text)") }
            #expect(server.process.errors.contains("route=/site/waiting status=303 outcome=ok"))
            #expect(!server.process.errors.contains("status=404"))
            try server.stop()
            return try said("cookie", outcome)
        } catch {
            throw Unexpected("\(error)\n\(server.process.errors)")
        }
    }

    /// What the script said of something.
    private func said(_ what: String, _ outcome: Outcome) throws -> String {
        let line = outcome.output.split(separator: "\n").first { $0.hasPrefix("\(what): ") }
        let json = Data((line ?? "").dropFirst(what.count + 2).utf8)
        let text = try JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
        guard let text = text as? String else { throw Unexpected("no '\(what)'") }
        return text
    }

    /// Approves the one operation that awaits the device, as `signet operations` does; gives its
    /// text.
    private func approve(_ server: ServerProcess, _ device: TestDevice) async throws -> String {
        let list = try await ask(server, device, "/v1/device/operations")
        guard let waiting = list["operations"] as? [[String: Any]], waiting.count == 1,
            let id = waiting[0]["operation"] as? String
        else { throw Unexpected("not one operation") }
        let detail = try await ask(server, device, "/v1/device/operations/\(id)")
        let data = try detail.text("data")
        let statement = OperationStatement(
            head: device.head, operation: try #require(ID(text: id)).bytes,
            challenge: try detail.binary("challenge"),
            template: [UInt8](try detail.text("template").utf8), data: [UInt8](data.utf8),
            decision: .approve, claims: device.claims(at: server.time.now))
        let reply = try await server.send(
            "POST", "/v1/operations/\(id)/decision",
            try device.signed(statement.encoded(), .operation))
        #expect(reply["status"] as? String == "APPROVED")
        return data
    }

    private func ask(
        _ server: ServerProcess, _ device: TestDevice, _ path: String
    ) async throws -> Reply {
        let request = TestRequest(method: "GET", resource: path, body: [])
        let header = try device.header(
            try device.statement(of: request, at: server.time.now))
        return try await server.send(
            "GET", path, nil, key: nil, headers: [("Authorization", header)], from: "")
    }
}
