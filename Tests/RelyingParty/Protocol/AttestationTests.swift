// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import Posix
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import TPM
import TPMStructures
import TestSupport
import Testing

@testable import RelyingParty

@Suite("An attested key")
struct AttestationTests {
    private let attested = ApplicationPolicy(keys: .attested)

    @Test("is registered with what its TPM proves", arguments: Backend.allCases)
    func accepted(backend: Backend) async throws {
        let server = try await TestServer.attesting(
            backend, policy: ApplicationPolicy(keys: .attested, secureBoot: .attested))
        let device = try AttestingDevice()
        let proven = try await server.register(attested: device)
        #expect(proven.status == 200, "\(String(decoding: proven.bytes, as: UTF8.self))")
        #expect(proven["attested"] as? [String] == ["key", "secure-boot"])
        let lines = try await server.rows(
            """
            SELECT detail FROM audit WHERE event = 'registration' AND outcome = 'ok'
            """)
        #expect(try lines.map { row in try row.text(0) } == ["attested: key secure-boot"])
        // The evidence is kept, and the secret forgotten.
        let rows = try await server.rows("SELECT secret_hash, evidence FROM attestation")
        #expect(try rows.map { row in try row.optionalBytes(0) } == [nil])
        let evidence = try AttestationEvidence(stored: try #require(rows.first).text(1))
        #expect(evidence.certificate.bytes == (try device.certificate))
    }

    @Test("may be begun several times at once: one of them counts", arguments: Backend.allCases)
    func atOnce(backend: Backend) async throws {
        let server = try await TestServer.attesting(backend)
        let device = try AttestingDevice()
        _ = try await server.begin(device.device)
        let path = "/v1/registrations/\(device.device.registration)/attestation"
        let body = try device.request().mapValues { "\($0)" }
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask { try await server.send("POST", path, body).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 8))
        #expect(try await server.rows("SELECT registration FROM attestation").count == 1)
    }

    @Test("has hwk in its tokens, and a key that is only said to be in a TPM has not")
    func methods() async throws {
        let server = try await TestServer.attesting(.sqlite)
        let device = try AttestingDevice()
        _ = try await server.register(attested: device)
        let reply = try await server.logIn(device)
        #expect(try methods(of: reply) == ["fpt", "hwk"])

        let plain = try TestDevice(id: 0xd2)
        try await server.register(plain)
        #expect(try methods(of: try await server.logIn(plain)) == ["fpt", "pop"])
        let file = try TestDevice(id: 0xd3)
        file.integrity = Integrity(key: .file, secureBoot: .on)
        try await server.register(file)
        #expect(try methods(of: try await server.logIn(file)) == ["fpt", "swk"])
    }

    @Test("is required: a script with a key in memory is not registered, whatever it claims")
    func script() async throws {
        let server = try await TestServer.attesting(.sqlite, policy: attested)
        let script = try TestDevice()
        let begun = try await server.begin(script)
        #expect(try await server.prove(script, begun).code == "policy")

        // With the certificate of a real TPM and its key, and what that TPM says of another key.
        let device = try AttestingDevice()
        device.device.id = script.id
        let (challenge, secret) = try await server.begin(device)
        let text = device.statement(for: challenge, at: server.time.now)
        let attestation = try device.attestation(secret: secret, of: text)
        var body = try script.signed(text, .registration)
        body["publicKey"] = base64(script.key.publicPoint)
        body["attestation"] = attestation
        #expect(try await server.prove(device, body).refuses(.otherKey))
    }

    @Test("that is registered stays good when the policy asks for it later; others do not")
    func laterPolicy() async throws {
        let server = try await TestServer.attesting(.sqlite)
        let plain = try TestDevice(id: 0xd2)
        try await server.register(plain)
        try await server.change("UPDATE application SET minimum_key = 'attested'")
        #expect(try await server.logIn(plain).code == "policy")
        let device = try AttestingDevice()
        #expect(try await server.register(attested: device, quoted: false).status == 200)
        try await server.change("UPDATE application SET minimum_boot = 'attested'")
        let other = try AttestingDevice(id: 0xd4)
        #expect(try await server.register(attested: other, quoted: false).code == "policy")
    }

    @Test("needs a certificate by an authority that is named, that is valid and for a TPM")
    func certificates() async throws {
        let server = try await TestServer.attesting(.sqlite, policy: attested)
        let foreign = try AttestingDevice(of: AttestingDevice.stranger)
        _ = try await server.begin(foreign.device)
        let refused = try await server.nameTPM(of: foreign)
        #expect(refused.code == "attestation-refused")
        #expect(refused.title?.contains("no named authority") == true)
        let rows = try await server.rows(
            "SELECT detail FROM audit WHERE outcome = 'attestation-refused'")
        #expect(try rows.count == 1 && rows[0].text(0).contains("no named authority"))

        let device = try AttestingDevice()
        let path = "/v1/registrations/\(foreign.device.registration)/attestation"
        func answer(_ certificate: [UInt8], key: [UInt8]? = nil) async throws -> String? {
            let body: [String: Any] = [
                "certificate": base64(certificate),
                "key": base64(key ?? device.attestationKey.area.bytes),
            ]
            return try await server.send("POST", path, body).title
        }
        let whole = try device.certificate
        #expect(try await answer(whole) == nil)
        for count in stride(from: 0, to: whole.count, by: 41) {
            #expect(try await answer(Array(whole.prefix(count)))?.contains("not a cert") == true)
        }
        #expect(try await answer(whole + [0])?.contains("not a certificate") == true)
        for offset in stride(from: whole.count - 200, to: whole.count, by: 37) {
            var altered = whole
            altered[offset] ^= 1
            #expect(try await answer(altered) != nil)
        }
        // The authority's own certificate, and one for web servers of the same authority.
        let authority = try AttestingDevice.authority.get()
        #expect(try await answer(try authority.ownDER()) != nil)
        let web = try authority.issue(use: "serverAuth")
        #expect(try await answer(web)?.contains("another use") == true)
        let signing = try authority.issue(use: "2.23.133.8.1", keyUsage: "digitalSignature")
        #expect(try await answer(signing)?.contains("another use") == true)
        let mortal = try authority.issue(use: "2.23.133.8.1")
        #expect(try await answer(mortal) == nil)

        // Attestation keys that would sign anything, or are not fixed to their TPM.
        let area = device.attestationKey.area.bytes
        for (offset, bit) in [(5, UInt8(0x01)), (7, 0x02), (7, 0x10), (7, 0x20), (5, 0x02)] {
            var other = area
            other[offset] ^= bit
            #expect(try await answer(whole, key: other)?.contains("not restricted") == true)
        }
        for count in 0..<area.count {
            let key = Array(area.prefix(count))
            #expect(try await answer(whole, key: key)?.contains("not restricted") == true)
        }
        #expect(
            try await answer(whole, key: device.loginKey.area.bytes)?.contains("not restricted")
                == true)

        // In some years, the certificate has expired.
        server.time.pass(86_400 * 366 * 5)
        #expect(try await answer(mortal)?.contains("expired") == true)
        server.time.pass(-86_400 * 366 * 10)
        #expect(try await answer(mortal)?.contains("not valid yet") == true)
    }

    @Test("is refused for another registration, another secret, late, or a second time")
    func replayed() async throws {
        let server = try await TestServer.attesting(.sqlite, policy: attested)
        let device = try AttestingDevice()
        let (challenge, secret) = try await server.begin(device)
        let text = device.statement(for: challenge, at: server.time.now)
        let first = try device.attestation(secret: secret, of: text)

        // Everything of the first registration, but for a second one.
        let again = try await server.begin(device)
        let newText = device.statement(for: again.challenge, at: server.time.now)
        var replayed = try device.proof(of: newText, attestation: first)
        #expect(try await server.prove(device, replayed).refuses(.wrongSecret))

        // Its statements, with the right secret.
        let third = try await server.begin(device)
        let thirdText = device.statement(for: third.challenge, at: server.time.now)
        var mixed = first
        mixed["secret"] = base64(third.secret)
        replayed = try device.proof(of: thirdText, attestation: mixed)
        let other = AttestationFault.otherRegistration("certification")
        #expect(try await server.prove(device, replayed).refuses(other))

        // Not begun at all.
        let begun = try await server.begin(device.device)
        let fourthText = device.statement(
            for: try begun.binary("challenge"), at: server.time.now)
        let unasked = try device.proof(
            of: fourthText,
            attestation: try device.attestation(secret: third.secret, of: fourthText))
        #expect(try await server.prove(device, unasked).refuses(.notBegun))

        // Too late for the secret, in time for the challenge.
        let late = try await server.begin(device)
        let lateText = device.statement(for: late.challenge, at: server.time.now)
        let lateProof = try device.proof(
            of: lateText, attestation: try device.attestation(secret: late.secret, of: lateText))
        server.time.pass(Attestations.seconds)
        #expect(try await server.prove(device, lateProof).refuses(.notBegun))

        // A good one is good once.
        let good = try await server.begin(device)
        let goodText = device.statement(for: good.challenge, at: server.time.now)
        let proof = try device.proof(
            of: goodText, attestation: try device.attestation(secret: good.secret, of: goodText))
        #expect(try await server.prove(device, proof).status == 200)
        #expect(try await server.prove(device, proof).code == "refused")
        #expect(try await server.nameTPM(of: device).code == "refused")
    }

    @Test("is refused without a server that checks, and by its own code for the activation")
    func withoutAuthorities() async throws {
        let server = try await TestServer.make(.sqlite)
        let device = try AttestingDevice()
        _ = try await server.begin(device.device)
        #expect(try await server.nameTPM(of: device).code == "conflict")
        let code = try await server.ask("POST", "/v1/activations", ["account": "alice"])
        let body = ["code": try code.text("code"), "device": hexadecimal(device.device.id)]
        let path = "/v1/activations/requirements"
        let asked = try await server.send("POST", path, body)
        #expect(asked["attestation"] as? Bool == false && asked["keys"] as? String == "any")
        // The code is still good, and then used.
        #expect(try await server.send("POST", path, body).status == 200)
        #expect(try await server.send("POST", "/v1/registrations", body).status == 201)
        #expect(try await server.send("POST", path, body).code == "activation-refused")
        let strict = try await TestServer.attesting(.sqlite, policy: attested)
        let other = try await strict.ask("POST", "/v1/activations", ["account": "alice"])
        let told = try await strict.send(
            "POST", path,
            ["code": try other.text("code"), "device": hexadecimal(device.device.id)])
        #expect(told["attestation"] as? Bool == true && told["keys"] as? String == "attested")
    }

    private func methods(of reply: Reply) throws -> [String] {
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let token = try #require(tokens["accessToken"] as? String)
        let part = try #require(token.split(separator: ".").dropFirst().first)
        let bytes = try #require(Base64.decode([UInt8](part.utf8), alphabet: .url))
        let claims = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return try #require(claims?["amr"] as? [String])
    }
}
