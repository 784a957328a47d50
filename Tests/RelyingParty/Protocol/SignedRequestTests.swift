// SPDX-License-Identifier: Apache-2.0
import Crypto
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Testing

@testable import RelyingParty

@Suite("A signed request")
struct SignedRequestTests {
    @Test("is attributed to its device, once", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for _ in 0..<3 {
            let header = try device.header(try device.statement(at: server.time.now))
            let reply = try await server.verify(header)
            #expect(reply.status == 200)
            #expect(reply["valid"] as? Bool == true)
            #expect(reply["application"] as? String == "shop")
            #expect(reply["account"] as? String == "alice")
            #expect(reply["registration"] as? String == device.registration)
            #expect(reply["device"] as? String == hexadecimal(device.id))
            #expect(reply["status"] as? String == "ACTIVE")
            #expect(reply["factor"] as? String == "fingerprint")
            #expect(reply["code"] == nil)
            #expect(try await server.refusal(of: header) == "replayed")
        }
        #expect(try await server.audited("request", "ok") == 0)
        #expect(try await server.audited("request", "replayed") == 3)
    }

    @Test("is accepted once of many at once", arguments: Backend.allCases)
    func raced(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let header = try device.header(try device.statement(at: server.time.now))
        let accepted = try await server.race { try await $0.refusal(of: header) == nil }
        #expect(accepted == 1)
    }

    @Test("may be overtaken, and delays no login", arguments: Backend.allCases)
    func overtaken(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let early = try device.header(try device.statement(at: server.time.now))
        let challenge = try await server.challenge(device)
        let login = device.answer(challenge, "login", at: server.time.now)
        let late = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: late) == nil)
        let reply = try await server.send(
            "POST", "/v1/login", try device.signed(login.encoded(), .login))
        #expect(reply.status == 200)
        #expect(try await server.refusal(of: early) == nil)
    }

    @Test("of a device that was set back is refused", arguments: Backend.allCases)
    func setBack(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        device.counter = 5_000
        #expect(try await server.logIn(device).status == 200)
        device.counter = 3_975
        #expect(
            try await server.refusal(
                of: device.header(device.statement(at: server.time.now))) == "refused")
        #expect(
            try await server.refusal(of: device.header(device.statement(at: server.time.now)))
                == nil)
    }

    @Test(
        "forgets what was counted only where its counter is above the last one",
        arguments: Backend.allCases)
    func forgetting(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        device.counter = 4_999
        #expect(try await server.logIn(device).status == 200)
        server.time.pass(1)
        // The first two are good codes, but a copy of the device may have made them.
        for (before, left) in [(4_499, 4), (4_999, 3), (5_000, 2), (5_001, 4)] as [(UInt64, Int)] {
            device.counter = 1
            #expect(try await server.logIn(device)["remainingAttempts"] as? Int == left)
            device.counter = before
            #expect(
                try await server.refusal(of: device.header(device.statement(at: server.time.now)))
                    == nil)
        }
    }

    @Test("holds for half a minute both ways", arguments: Backend.allCases)
    func window(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for (offset, code) in [
            (-31, "clock"), (-30, nil), (30, nil), (31, "clock"), (-1_000_000, "clock"),
            (1_000_000, "clock"),
        ] as [(Int64, String?)] {
            let header = try device.header(
                try device.statement(at: server.time.now + offset))
            #expect(try await server.refusal(of: header) == code, "\(offset)")
        }
    }

    @Test("is not good again when clocks are set", arguments: Backend.allCases)
    func clockSteps(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let header = try device.header(try device.statement(at: server.time.now))
        let unused = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: header) == nil)
        for step in [60, 200, 86_400] as [Int64] {
            server.time.pass(step)
            await server.service.maintenance.forgetOld()
            server.time.pass(-step)
            let code = try await server.refusal(of: header)
            #expect(code == (step < 300 ? "replayed" : "clock"), "\(step)")
        }
        #expect(try await server.refusal(of: unused) == "clock")
        // When the time comes that the clock has shown once, all is well again.
        server.time.pass(86_400)
        #expect(
            try await server.refusal(of: device.header(device.statement(at: server.time.now)))
                == nil)
    }

    @Test("of a device that lost its place hears why", arguments: Backend.allCases)
    func lostPlace(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let path = "/v1/registrations/\(device.registration)"
        func code() async throws -> String? {
            try await server.refusal(of: device.header(device.statement(at: server.time.now)))
        }
        #expect(try await code() == nil)
        _ = try await server.ask("POST", path + "/block", [:])
        #expect(try await code() == "key-blocked")
        _ = try await server.ask("POST", path + "/unblock", [:])
        #expect(try await code() == nil)
        let another = try TestDevice()
        try await server.register(another)
        #expect(try await code() == "key-replaced")
        // Who has not signed rightly hears nothing of it.
        let forged = try device.header(
            try device.statement(at: server.time.now), by: .generate())
        #expect(try await server.refusal(of: forged) == "refused")
        _ = try await server.ask(
            "POST", "/v1/registrations/\(another.registration)/remove", [:])
        let reply = try await server.refusal(
            of: another.header(another.statement(at: server.time.now)))
        #expect(reply == "key-removed")
    }

    @Test(
        "with a wrong signature blocks no device: anyone who saw a header could send such",
        arguments: Backend.allCases)
    func uncounted(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        for _ in 0..<10 {
            let forged = try await server.verify(
                device.header(device.statement(at: server.time.now), by: .generate()))
            #expect(forged["code"] as? String == "refused")
            #expect(forged["remainingAttempts"] == nil)
        }
        let right = try device.header(try device.statement(at: server.time.now))
        #expect(try await server.refusal(of: right) == nil)
    }

    @Test(
        "that is right and refused tells the back end how many failures are left",
        arguments: Backend.allCases)
    func remaining(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let header = try device.header(device.statement(at: server.time.now))
        #expect(try await server.verify(header)["remainingAttempts"] as? Int == 5)
        let replayed = try await server.verify(header)
        #expect(replayed["code"] as? String == "replayed")
        #expect(replayed["remainingAttempts"] as? Int == 5)
        let late = try await server.verify(
            device.header(device.statement(at: server.time.now - 31)))
        #expect(late["code"] as? String == "clock")
        #expect(late["remainingAttempts"] as? Int == 5)
        // The same of a MAC; a wrong one, or another's, tells nothing.
        let token = try await server.macToken(device)
        let mac = try await server.verify(try token.header(at: server.time.now - 31))
        #expect(mac["code"] as? String == "clock" && mac["remainingAttempts"] as? Int == 5)
        var forged = token
        forged.secret[0] ^= 1
        let wrong = try await server.verify(try forged.header(at: server.time.now - 31))
        #expect(wrong["code"] as? String == "refused" && wrong["remainingAttempts"] == nil)
        // Nor does the server tell the device itself, whose failures these are not.
        let stranger = try await server.verify(
            device.header(device.statement(at: server.time.now - 31), by: .generate()))
        #expect(stranger["remainingAttempts"] == nil)
    }

    @Test("is held to the policy", arguments: Backend.allCases)
    func policy(backend: Backend) async throws {
        var policy = ApplicationPolicy()
        policy.keys = .tpm
        let server = try await TestServer.make(backend, policy: policy)
        let device = try TestDevice()
        try await server.register(device)
        device.integrity = Integrity(key: .file, secureBoot: .on)
        #expect(
            try await server.refusal(of: device.header(device.statement(at: server.time.now)))
                == "policy")
        device.integrity = Integrity(key: .tpm, secureBoot: .on)
        device.factor = "possession"
        #expect(
            try await server.refusal(of: device.header(device.statement(at: server.time.now)))
                == "policy")
    }
}
