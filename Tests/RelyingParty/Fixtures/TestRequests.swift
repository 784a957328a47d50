// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import HTTPServer
import Posix
import SQL
import ServerAPI
import SignedFormats
import TestSupport

@testable import RelyingParty

/// An HTTP request that a back end received, as a device made it.
struct TestRequest {
    var method = "POST"
    var resource = "/v1/payments?to=bob"
    var body = [UInt8](#"{"amount":10}"#.utf8)

    /// The lines about it, with a fresh nonce.
    func lines() throws -> RequestLines {
        RequestLines(
            method: [UInt8](method.utf8), resource: [UInt8](resource.utf8),
            nonce: try freshBytes(32), body: try SHA256.digest(body))
    }
}

extension TestDevice {
    /// What it signs of a request, unsigned.
    func statement(
        of request: TestRequest = TestRequest(), at now: Int64
    ) throws -> RequestStatement {
        RequestStatement(head: head, request: try request.lines(), claims: claims(at: now))
    }

    /// The header `Authorization` of a statement.
    func header(
        _ statement: RequestStatement, _ namespace: SignatureNamespace = .request,
        by other: P256PrivateKey? = nil
    ) throws -> String {
        try header(text: statement.encoded(), namespace, by: other)
    }

    /// The header of any text.
    func header(
        text: [UInt8], _ namespace: SignatureNamespace = .request, by other: P256PrivateKey? = nil
    ) throws -> String {
        let signature = try (other ?? key).signature(of: text, in: namespace)
        let authorization = SignetAuthorization(statement: text, signature: signature.blob)
        guard let header = authorization.header else { throw Unexpected("the header is too long") }
        return String(decoding: header, as: UTF8.self)
    }
}

/// A MAC token as a device keeps it.
struct TestMACToken {
    var id: MACTokenID
    var secret: [UInt8]
    var audience: String

    /// The header of a request.
    func header(
        of request: TestRequest = TestRequest(), nonce: [UInt8]? = nil, at now: Int64
    ) throws -> String {
        var lines = try request.lines()
        if let nonce { lines.nonce = nonce }
        let issued = Instant(seconds: UInt64(now))
        let text = MACText(
            audience: Audience(audience), token: id, request: lines, issued: issued)
        var copy = secret
        let mac = try HMAC.sha256(of: text.encoded(), key: try SecretBytes(moving: &copy))
        let authorization = MACAuthorization(
            token: id, nonce: lines.nonce, issued: issued, mac: mac)
        return String(decoding: authorization.header, as: UTF8.self)
    }
}

extension CalledServer {
    /// Asks for a MAC token with a touch.
    func askForMACToken(
        _ device: TestDevice, name: String = "sync", expiresIn: Int? = nil
    ) async throws -> Reply {
        let statement = device.answer(
            try await challenge(device, "mac-token"), "mac-token", at: time.now, purpose: name)
        var body = try device.signed(statement.encoded(), .login)
        if let expiresIn { body["expiresIn"] = expiresIn }
        return try await send("POST", "/v1/mac-tokens", body)
    }

    /// A MAC token for a device.
    func macToken(
        _ device: TestDevice, name: String = "sync", expiresIn: Int? = nil
    ) async throws -> TestMACToken {
        let reply = try await askForMACToken(device, name: name, expiresIn: expiresIn)
        guard let id = MACTokenID(text: try reply.text("token")) else { throw Unexpected("no id") }
        return TestMACToken(
            id: id, secret: try reply.binary("secret"), audience: try reply.text("audience"))
    }
}

extension TestServer {
    /// Asks for a verdict on a header as a back end that received this request.
    func verify(
        _ header: String, of request: TestRequest = TestRequest(), key: String? = nil
    ) async throws -> Reply {
        try await send(
            "POST", "/v1/authentication/verify",
            [
                "authorization": header, "method": request.method, "resource": request.resource,
                "body": base64(try SHA256.digest(request.body)),
            ], key: key ?? apiKey)
    }

    /// The code that a header is refused with; nil if it is valid.
    func refusal(
        of header: String, _ request: TestRequest = TestRequest(), key: String? = nil
    ) async throws -> String? {
        let reply = try await verify(header, of: request, key: key)
        guard reply.status == 200 else {
            throw Unexpected("\(reply.status): \(String(decoding: reply.bytes, as: UTF8.self))")
        }
        return reply["valid"] as? Bool == true ? nil : try reply.text("code")
    }

    /// Sends many at once; gives how many of them `counts`.
    func race(
        _ count: Int = 1_000,
        _ call: @escaping @Sendable (TestServer) async throws -> Bool
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<count { group.addTask { try await call(self) } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
    }

    /// How many lines of the audit trail an event has with this outcome.
    func audited(_ event: String, _ outcome: String) async throws -> Int {
        try await rows(
            "SELECT id FROM audit WHERE event = $1 AND outcome = $2",
            [.text(event), .text(outcome)]
        ).count
    }
}
