// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import ServerAPI
import SignedFormats
import TestSupport

@testable import RelyingParty

/// A device as the server sees it: an id, and a key for one account of one application.
final class TestDevice {
    var id: DeviceID
    var credential: CredentialID
    var key: P256PrivateKey
    /// What it signs with where the password takes the finger's place; nil for none.
    var passwordKey: P256PrivateKey?
    var account = "alice"
    var audience = "https://id.example.org/shop"
    var counter: UInt64 = 0
    var factor = "fingerprint"
    var integrity = Integrity(key: .tpm, secureBoot: .on)
    /// Once it is registered.
    var registration = ""

    /// With a fresh key.
    init(id: UInt8 = 0xd1) throws {
        self.id = .sample(repeating: id)
        credential = try fresh()
        key = try P256PrivateKey.generate()
    }

    /// What begins each of its statements.
    var head: StatementHead {
        StatementHead(
            audience: Audience(audience), account: ServerAccountName(account), device: id,
            credential: credential)
    }

    /// What ends each of its statements; the counter grows each time.
    func claims(at now: Int64) -> StatementClaims {
        counter += 1
        return StatementClaims(
            factor: [UInt8](factor.utf8), integrity: integrity, enrolment: 1, counter: counter,
            issued: Instant(seconds: UInt64(now)))
    }

    /// The answer to a challenge, unsigned.
    func answer(
        _ challenge: Challenge, _ action: String, at now: Int64, purpose: String = ""
    ) -> LoginStatement {
        LoginStatement(
            head: head, challenge: challenge, action: [UInt8](action.utf8),
            service: "signet", terminal: [], purpose: [UInt8](purpose.utf8),
            claims: claims(at: now))
    }

    /// A text and its signature, as bodies have them.
    func signed(
        _ text: [UInt8], _ namespace: SignatureNamespace, by other: P256PrivateKey? = nil
    ) throws -> [String: Any] {
        let signature = try (other ?? key).signature(of: text, in: namespace)
        return ["statement": base64(text), "signature": base64(signature.blob)]
    }
}

extension TestDevice {
    /// The purpose that names its key for the password; empty without one.
    var passwordKeyPurpose: [UInt8] {
        guard let point = passwordKey.flatMap({ PublicKeyPoint($0.publicPoint) }) else { return [] }
        return PasswordKeyPurpose.text(point)
    }

    /// The key for the password, which has signed a statement; nil without one.
    func proofOfPasswordKey(in statement: LoginStatement) throws -> [String: Any]? {
        guard let passwordKey else { return nil }
        let signature = try passwordKey.signature(of: statement.encoded(), in: .registration)
        return [
            "publicKey": base64(passwordKey.publicPoint), "signature": base64(signature.blob),
        ]
    }

    /// Signs from here on with the password, or with a finger again.
    func confirm(by factor: KeyFactor) { self.factor = factor.rawValue }

    /// The key of the factor that its statements state.
    var signingKey: P256PrivateKey {
        factor == KeyFactor.password.rawValue ? passwordKey ?? key : key
    }
}

/// Bytes that no one had before.
func fresh<ID: FixedBytes>() throws -> ID { ID(random: try freshBytes(ID.count)) }

func freshBytes(_ count: Int) throws -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255) }
}

extension CalledServer {
    /// Registers a device with a code of the application; throws where that is refused.
    func register(_ device: TestDevice) async throws {
        let reply = try await prove(device, try await begin(device))
        guard reply.status == 200 else {
            throw Unexpected("not registered: \(String(decoding: reply.bytes, as: UTF8.self))")
        }
    }

    /// Begins a registration: a code, and the challenge for it.
    func begin(_ device: TestDevice) async throws -> Reply {
        let code = try await ask("POST", "/v1/activations", ["account": device.account])
        let begun = try await send(
            "POST", "/v1/registrations",
            ["code": try code.text("code"), "device": hexadecimal(device.id)])
        device.registration = (begun["registration"] as? String) ?? ""
        return begun
    }

    /// Proves the new key.
    func prove(_ device: TestDevice, _ begun: Reply) async throws -> Reply {
        var statement = device.answer(
            try begun.binary("challenge"), "register", at: time.now)
        statement.purpose = device.passwordKeyPurpose
        var body = try device.signed(statement.encoded(), .registration)
        body["passwordKey"] = try device.proofOfPasswordKey(in: statement)
        body["publicKey"] = base64(device.key.publicPoint)
        return try await send("POST", "/v1/registrations/\(device.registration)/proof", body)
    }

    /// Replaces a device's key for the password, by a touch, with the one that it has now.
    func replacePasswordKey(of device: TestDevice) async throws -> Reply {
        var statement = device.answer(
            try await challenge(device, "password-key"), "password-key", at: time.now)
        statement.purpose = device.passwordKeyPurpose
        var body = try device.signed(statement.encoded(), .login)
        body["passwordKey"] = try device.proofOfPasswordKey(in: statement)
        return try await send(
            "POST", "/v1/registrations/\(device.registration)/password-key", body)
    }

    /// A challenge for a device.
    func challenge(
        _ device: TestDevice, _ action: String = "login", application: String = "shop"
    ) async throws -> Challenge {
        let reply = try await send(
            "POST", "/v1/login/challenge",
            [
                "application": application, "account": device.account,
                "device": hexadecimal(device.id), "action": action,
            ])
        return try reply.binary("challenge")
    }

    /// Logs in with a touch, or with the password where the device's statements say so.
    func logIn(_ device: TestDevice) async throws -> Reply {
        let statement = device.answer(try await challenge(device), "login", at: time.now)
        return try await send(
            "POST", "/v1/login",
            try device.signed(statement.encoded(), .login, by: device.signingKey))
    }
}
