// SPDX-License-Identifier: Apache-2.0
import SQLSupport
import TestSupport
import Testing

@testable import RelyingParty

@Suite("A certificate that a reload would take")
struct CertificateCheckTests {
    private let home: ServerHome
    private let authority: TestAuthority

    init() throws {
        home = try ServerHome(.sqlite)
        authority = try TestAuthority(home.scratch)
    }

    /// What the command says of the files that are there.
    private func check(_ settings: String, _ words: String...) throws -> Outcome {
        try Program(
            Command(
                [
                    ServerProcess.program, "admin", "--config", try home.configuration(settings),
                    "check-certificate",
                ] + words)
        ).expectEnd()
    }

    private func expectRefusal(_ reason: String) throws {
        let outcome = try check(authority.settings())
        #expect(outcome.ending == .exited(1), "\(reason)")
        #expect(outcome.output == "")
        #expect(outcome.errors.contains(reason), "\(outcome.errors)")
    }

    @Test("is reported as good, and until when; a missing one is reported too")
    func good() throws {
        let outcome = try check(authority.settings())
        #expect(outcome.succeeded, "\(outcome.errors)")
        #expect(outcome.output.hasPrefix("certificate and key can be used; valid until 20"))
        #expect(try check(authority.settings(), "--json").output.hasPrefix(#"{"ends":"#))
        let plain = try check("")
        #expect(plain.succeeded)
        #expect(plain.output.hasPrefix("no certificate is configured"))
        // It opens no database, and makes no key.
        #expect(Layout.entries(of: home.scratch.path).allSatisfy { $0 != "master-secret" })
    }

    @Test("is refused with a reason where the server would keep the one that it has")
    func refused() throws {
        let place = home.scratch.at("server.pem")
        let chain = try home.scratch.read("server.pem")
        let key = try home.scratch.read("server.key")
        let old = try authority.certificate(from: "20200101000000Z", to: "20210101000000Z")
        let future = try authority.certificate(from: "20480101000000Z", to: "20490101000000Z")
        let bad = "the TLS certificate and key cannot be used"
        for (bytes, reason) in [
            (Array("nothing".utf8), bad), (Array(chain.prefix(200)), bad), ([], bad),
            (old, "\(place) is valid from 2020-01-01T00:00:00Z to 2021-01-01T00:00:00Z, not now"),
            (future, "\(place) is valid from 2048-01-01T00:00:00Z to 2049"),
        ] {
            try home.scratch.write("server.pem", bytes, mode: 0o644)
            try expectRefusal(reason)
        }
        try home.scratch.write("server.pem", chain, mode: 0o644)
        try home.scratch.write("server.key", key, mode: 0o644)
        try expectRefusal("\(home.scratch.at("server.key")) has the unsafe mode 0644")
        let other = try TestAuthority(Scratch())
        try home.scratch.write(
            "server.key", try other.scratch.read("server.key"), mode: 0o600)
        try expectRefusal(bad)
        try home.scratch.write("server.key", Array("nothing".utf8), mode: 0o600)
        try expectRefusal(bad)
        try home.scratch.write("server.key", key, mode: 0o600)
        #expect(try check(authority.settings()).succeeded)
        #expect(try check("certificate = none\nkey = \(place)").ending == .exited(1))
        #expect(
            try check("certificate = /nonexistent/chain.pem\nkey = \(place)").ending == .exited(1))
    }

    @Test("is checked by the unit's reload before the server is signalled")
    func unit() throws {
        let unit = String(
            decoding: try Layout.read("\(Layout.package)/systemd/signet-server.service.in"),
            as: UTF8.self)
        let steps = unit.split(separator: "\n").filter { $0.hasPrefix("ExecReload=") }
            .map { $0.dropFirst(11).split(separator: " ").map(String.init) }
        // A step that fails ends the reload, unless a sign before its path says otherwise.
        #expect(steps.first?.first == "@BINDIR@/signet-server")
        #expect(steps.dropFirst().map { $0.contains("-HUP") } == [true])
        let line = try AdminCommandLine(Array(steps.first?.dropFirst(2) ?? []))
        #expect(line?.verb.name == "check-certificate")
    }
}
