// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPClient
import RelyingPartySupport
import TestSupport

/// A process of `signet-site` on a port of this machine, for an application of a signet-server.
final class SiteProcess: Sendable {
    static let program = "\(Layout.products)/signet-site"
    /// How browsers call it, unless a test says otherwise.
    static let url = "https://shop.example.org"

    let process: Program
    let port: UInt16
    /// How browsers call it.
    let url: String
    private let scratch: Scratch
    private let client: HTTPClient
    private let scheme: String

    /// Starts it with more settings for its section `site`, and for its section `server`.
    init(
        _ server: LiveServer, url: String = SiteProcess.url, site: String = "",
        settings: String = "", key: String? = nil, scratch: Scratch? = nil,
        isBehindProxy: Bool = true
    ) throws {
        self.url = url
        let scratch = try scratch ?? Scratch()
        self.scratch = scratch
        try scratch.write("key", (key ?? server.apiKey) + "\n")
        try scratch.write(
            "site.conf",
            Self.configuration(
                server, url: url, site: (isBehindProxy ? "proxy = trusted\n" : "") + site,
                settings: settings,
                key: scratch.at("key")))
        process = try Program(Command([Self.program, scratch.at("site.conf")]))
        try process.expectError("serving on port ")
        guard let said = process.errors.firstMatch(of: #/on port (\d+)/#),
            let port = UInt16(said.output.1)
        else { throw TestFault.closed(awaited: "a port", transcript: process.errors) }
        self.port = port
        scheme = site.contains("certificate = ") ? "https" : "http"
        var configuration = ClientConfiguration()
        configuration.allowsPlain = true
        client = HTTPClient(configuration)
    }

    deinit {
        process.signal(SIGTERM)
        _ = try? process.expectEnd()
    }

    /// A configuration for any free port.
    static func configuration(
        _ server: LiveServer, url: String = SiteProcess.url, site: String = "",
        settings: String = "", key: String
    ) -> String {
        let isMoved = settings.contains("url = ")
        return """
            [site]
            url = \(url)
            port = 0
            \(site)
            [server]
            \(isMoved ? "" : "url = \(server.url)")
            authorities = \(server.authority)
            api-key = \(key)
            \(settings)

            """
    }

    /// Sends a request as a browser at this address would by way of a proxy.
    func send(
        _ method: String, _ path: String, _ headers: [(name: String, value: String)],
        _ body: String?, from peer: String
    ) throws -> HTTPAnswer {
        try client.perform(
            ClientRequest(
                method: method, url: "\(scheme)://127.0.0.1:\(port)\(path)",
                headers: headers + [("X-Forwarded-For", peer)], body: body.map { [UInt8]($0.utf8) })
        )
    }

    /// Ends it, and waits until it is gone.
    func stop() throws -> Outcome {
        process.signal(SIGTERM)
        return try process.expectEnd()
    }
}

extension LiveServer {
    /// A server with the template that the documents recommend, and a device of alice's.
    static func withSite(seconds: Int = 120) async throws -> (LiveServer, SiteDevice) {
        let server = try await start()
        try server.administer(
            "template", "add", "shop", "sign-in", "sign in from {address}\nthe page shows {code}",
            "--purpose", "login", "--seconds", "\(seconds)")
        return (server, try SiteDevice.registered(at: server))
    }

    /// How many lines of the audit trail an account has of an event with this outcome.
    func audited(_ event: String, _ outcome: String, of account: String = "alice") throws -> Int {
        let lines = try ask("GET", "/v1/accounts/\(account)/audit")["entries"] as? [[String: Any]]
        return (lines ?? []).filter {
            $0["event"] as? String == event && $0["outcome"] as? String == outcome
        }.count
    }
}
