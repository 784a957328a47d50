// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

/// What is attested is the key that a finger opens; nothing is known of the password's.
@Suite("The key for a password of an attested device")
struct AttestedPasswordTests {
    @Test("is no hardware key, though the same device's other key is", arguments: Backend.allCases)
    func methods(backend: Backend) async throws {
        let (server, device) = try await registered(backend)
        #expect(try server.methods(of: try await server.logIn(device)) == ["fpt", "hwk"])
        device.device.confirm(by: .password)
        #expect(try server.methods(of: try await server.logIn(device)) == ["pwd", "pop"])
        let lines = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'registration' AND outcome = 'ok'")
        #expect(
            try lines.map { row throws(DatabaseFault) in try row.text(0) }
                == ["attested: key secure-boot"])
    }

    @Test(
        "is refused once something must be attested, and so are its sessions",
        arguments: [AttestedProperty.key, .secureBoot])
    func laterPolicy(attested: AttestedProperty) async throws {
        let (server, device) = try await registered(.sqlite)
        let touched = try await server.logIn(device)
        device.device.confirm(by: .password)
        let entered = try await server.logIn(device)
        // Administration refuses this; a database may have it from elsewhere.
        switch attested {
        case .key: try await server.change("UPDATE application SET minimum_key = 'attested'")
        case .secureBoot:
            try await server.change("UPDATE application SET minimum_boot = 'attested'")
        }
        #expect(try await server.logIn(device).code == "policy")
        #expect(try await server.refresh(entered).status == 401)
        #expect(try await server.refresh(touched).status == 200)
        device.device.confirm(by: .fingerprint)
        #expect(try await server.logIn(device).status == 200)
    }

    @Test("is neither offered nor accepted at a registration where something must be attested")
    func registration() async throws {
        let server = try await TestServer.attesting(
            .sqlite, policy: ApplicationPolicy(keys: .attested))
        try await server.change("UPDATE application SET passwords = 1")
        let device = try AttestingDevice()
        device.device.passwordKey = try .generate()
        #expect(try await server.register(attested: device).code == "policy")
        let begun = try await server.begin(device.device)
        #expect(begun["factors"] as? [String] == ["fingerprint"])
        device.device.confirm(by: .password)
        #expect(try await server.register(attested: device).code == "policy")
        device.device.confirm(by: .fingerprint)
        device.device.passwordKey = nil
        #expect(try await server.register(attested: device).status == 200)
    }

    @Test("is recorded with what was attested, if the password itself has registered the device")
    func byPassword() async throws {
        let server = try await TestServer.attesting(
            .sqlite, policy: ApplicationPolicy(passwords: true))
        let device = try AttestingDevice()
        device.device.passwordKey = try .generate()
        device.device.confirm(by: .password)
        #expect(try await server.register(attested: device)["attested"] as? [String] != nil)
        let lines = try await server.rows(
            "SELECT detail FROM audit WHERE event = 'registration' AND outcome = 'ok'")
        #expect(
            try lines.map { row throws(DatabaseFault) in try row.text(0) }
                == [#"{"attested":["key","secure-boot"],"factor":"password"}"#])
        let trail = try await server.ask("GET", "/v1/accounts/alice/audit")
        let entries = try #require(trail["entries"] as? [[String: Any]])
        let proven = entries.filter {
            $0["event"] as? String == "registration" && $0["outcome"] as? String == "ok"
        }
        #expect(proven.map { $0["factor"] as? String } == ["password"])
    }

    @Test("is asked for by no policy that requires attested keys, nor by its templates")
    func administration() async throws {
        let server = try await TestServer.attesting(.sqlite)
        func refusal(_ words: String...) async -> String? {
            await server.fault(words).flatMap { $0.status == 4 ? $0.text : nil }
        }
        for attested in [["--keys", "attested"], ["--secure-boot", "attested"]] {
            let both = ["--passwords", "yes"] + attested
            for words in [
                ["application", "add", "other"] + both, ["application", "set", "shop"] + both,
            ] {
                let fault = await server.fault(words)
                #expect(fault?.status == 4 && fault?.text.contains("--passwords no") == true)
            }
        }
        try await server.administer("application", "set", "shop", "--passwords", "yes")
        let later = await refusal("application", "set", "shop", "--keys", "attested")
        #expect(later?.contains("--passwords no") == true)
        try await server.administer("application", "set", "shop", "--passwords", "no")
        try await server.administer(
            "template", "add", "shop", "transfer", "pay", "--factors", "both")
        let named = await refusal("application", "set", "shop", "--secure-boot", "attested")
        #expect(named?.contains("template remove") == true)
        try await server.administer("template", "remove", "shop", "transfer")
        try await server.administer("application", "set", "shop", "--keys", "attested")
        for factors in ["password", "either", "both"] {
            let made = await refusal(
                "template", "add", "shop", "transfer", "pay", "--factors", factors)
            #expect(made?.contains("--factors policy") == true)
        }
        for factors in ["policy", "fingerprint"] {
            try await server.administer(
                "template", "add", "shop", factors, "pay", "--factors", factors)
        }
        #expect(await refusal("application", "set", "shop", "--passwords", "yes") != nil)
    }

    /// A device whose registration is attested, at an application that accepts passwords.
    private func registered(
        _ backend: Backend
    ) async throws -> (TestServer, AttestingDevice) {
        let server = try await TestServer.attesting(
            backend, policy: ApplicationPolicy(passwords: true))
        let device = try AttestingDevice()
        device.device.passwordKey = try .generate()
        guard try await server.register(attested: device).status == 200 else {
            throw Unexpected("not registered")
        }
        return (server, device)
    }
}

extension TestServer {
    /// Refreshes the session of a login.
    fileprivate func refresh(_ login: Reply) async throws -> Reply {
        let tokens = try #require(login["tokens"] as? [String: Any])
        return try await send(
            "POST", "/v1/token/refresh", ["refreshToken": tokens["refreshToken"] ?? ""])
    }
}
