// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQLSupport
import ServerAPI
import SignedFormats
import TestSupport
import Testing

@testable import RelyingParty

/// A device learns what would be refused before it asks for a finger, and what was, afterwards.
@Suite("The policy for devices")
struct DevicePolicyTests {
    private static let everything = ApplicationPolicy(keys: .tpm, secureBoot: .on)

    @Test("is in the challenge, the same for an account that does not exist")
    func challenge() async throws {
        let server = try await TestServer.make(.sqlite, policy: Self.everything)
        let device = try TestDevice()
        try await server.register(device)
        let known = try await policy(of: "alice", at: server)
        #expect(known == "factors: fingerprint; keys: tpm; secureBoot: on")
        #expect(try await policy(of: "nobody", at: server) == known)
        #expect(try await policy(of: "alice", for: "remove", at: server) == nil)
    }

    @Test(
        "says which factors the answer may have",
        arguments: [
            (true, false, "login", "fingerprint"), (true, true, "login", "fingerprint password"),
            (false, true, "login", "password"), (false, false, "login", ""),
            (true, true, "mac-token", "fingerprint password"),
            (true, true, "password-key", "fingerprint"), (true, false, "password-key", ""),
            (false, true, "password-key", ""),
        ])
    func factors(touches: Bool, passwords: Bool, action: String, expected: String) async throws {
        let server = try await TestServer.make(
            .sqlite, policy: ApplicationPolicy(biometrics: touches, passwords: passwords))
        #expect(
            try await policy(of: "alice", for: action, at: server)
                == "factors: \(expected); keys: any; secureBoot: any")
    }

    @Test("is told to a device that has an activation code")
    func requirements() async throws {
        let server = try await TestServer.make(
            .sqlite, policy: ApplicationPolicy(biometrics: false, passwords: true, keys: .tpm))
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
        let reply = try await server.send(
            "POST", "/v1/activations/requirements",
            ["code": try code.text("code"), "device": String(repeating: "d1", count: 16)])
        #expect(reply["factors"] as? [String] == ["password"])
        #expect(reply["keys"] as? String == "tpm" && reply["secureBoot"] as? String == "any")
    }

    @Test("names what of it is not fulfilled, at registrations and logins, in this order")
    func refusals() async throws {
        for (integrity, factor, requirement) in [
            (Integrity(key: .tpm, secureBoot: .on), "pin", "factor"),
            (Integrity(key: .file, secureBoot: .off), "fingerprint", "keys"),
            (Integrity(key: .tpm, secureBoot: .off), "fingerprint", "secure-boot"),
            (Integrity(key: .tpm, secureBoot: .unknown), "fingerprint", "secure-boot"),
        ] {
            let server = try await TestServer.make(.sqlite, policy: Self.everything)
            let device = try TestDevice()
            (device.integrity, device.factor) = (integrity, factor)
            let refused = try await server.prove(device, try await server.begin(device))
            #expect(refused.status == 403 && refused.code == "policy")
            #expect(refused["requirement"] as? String == requirement)

            let good = try TestDevice(id: 0xd2)
            try await server.register(good)
            (good.integrity, good.factor) = (integrity, factor)
            let denied = try await server.logIn(good)
            #expect(denied.code == "policy" && denied["requirement"] as? String == requirement)
        }
    }

    @Test("is not named to a caller who has not signed with the key")
    func stranger() async throws {
        let server = try await TestServer.make(.sqlite, policy: Self.everything)
        let device = try TestDevice()
        try await server.register(device)
        device.integrity = Integrity(key: .file, secureBoot: .off)
        device.key = try .generate()
        let reply = try await server.logIn(device)
        #expect(reply.code == "refused" && reply["requirement"] == nil)
    }

    /// The policy in a challenge, in words; nil if it has none.
    private func policy(
        of account: String, for action: String = "login", at server: TestServer
    ) async throws -> String? {
        let reply = try await server.send(
            "POST", "/v1/login/challenge",
            [
                "application": "shop", "account": account,
                "device": String(repeating: "d1", count: 16), "action": action,
            ])
        #expect(reply.status == 200)
        guard let policy = reply["policy"] as? [String: Any] else { return nil }
        let factors = policy["factors"] as? [String] ?? ["none"]
        let keys = policy["keys"] as? String ?? "none"
        let boot = policy["secureBoot"] as? String ?? "none"
        return "factors: \(factors.joined(separator: " ")); keys: \(keys); secureBoot: \(boot)"
    }
}
