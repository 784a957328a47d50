// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Foundation
import HTTPClient
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

/// A device of a person, as signet-server sees it: it registers, and approves or rejects.
final class SiteDevice {
    let server: LiveServer
    let account: String
    let id: DeviceID
    /// The registration's id.
    private(set) var registration = ""
    private let credential = CredentialID(
        random: (0..<16).map { _ in UInt8.random(in: 0...255) })
    private let key: P256PrivateKey
    private var counter: UInt64 = 0

    /// Registers a device for an account, which is made.
    static func registered(
        for account: String = "alice", at server: LiveServer
    ) throws -> SiteDevice {
        let device = try SiteDevice(account, server)
        let begun = try device.send(
            "POST", "/v1/registrations",
            ["code": try server.code(for: account), "device": device.name])
        device.registration = try begun.text("registration")
        let statement = LoginStatement(
            head: device.head, challenge: Challenge(random: try begun.binary("challenge")),
            action: [UInt8]("register".utf8), service: "signet", terminal: [],
            purpose: [], claims: device.claims())
        var proof = try device.signed(statement.encoded(), .registration)
        proof["publicKey"] = base64(device.key.publicPoint)
        let proven = try device.send(
            "POST", "/v1/registrations/\(device.registration)/proof", proof)
        guard proven["status"] as? String == "ACTIVE" else {
            throw TestFault.closed(awaited: "a registration", transcript: "\(proven)")
        }
        return device
    }

    private init(_ account: String, _ server: LiveServer) throws {
        self.server = server
        self.account = account
        id = DeviceID(random: (0..<16).map { _ in UInt8.random(in: 0...255) })
        key = try P256PrivateKey.generate()
    }

    /// The device's id as pages show it.
    var name: String { String(decoding: id.hexadecimal, as: UTF8.self) }

    /// The key's fingerprint in the form of ssh-keygen(1).
    var fingerprint: String? {
        guard let blob = SSHPublicKey(point: key.publicPoint)?.blob,
            let digest = try? SHA256.digest(blob)
        else { return nil }
        let text = String(decoding: Base64.encode(digest, alphabet: .standard), as: UTF8.self)
        return "SHA256:" + text.prefix { $0 != "=" }
    }

    /// The ids of the operations that await this device, oldest first.
    func awaited() throws -> [String] {
        let list = try ask("/v1/device/operations")["operations"] as? [[String: Any]] ?? []
        return list.compactMap { $0["operation"] as? String }
    }

    /// The text that the device shows of an operation.
    func text(of operation: String) throws -> String {
        try ask("/v1/device/operations/\(operation)").text("data")
    }

    /// Decides the one operation that awaits the device.
    func decide(_ decision: OperationDecision = .approve) throws {
        let awaited = try awaited()
        guard awaited.count == 1 else {
            throw TestFault.closed(awaited: "one operation", transcript: "\(awaited)")
        }
        let reply = try decide(awaited[0], decision)
        guard reply["status"] as? String == (decision == .approve ? "APPROVED" : "REJECTED") else {
            throw TestFault.closed(awaited: "a decision", transcript: "\(reply)")
        }
    }

    /// Decides an operation as it was shown to another device; gives the answer.
    func decide(
        _ operation: String, _ decision: OperationDecision = .approve,
        shownTo other: SiteDevice? = nil
    ) throws -> [String: Any] {
        let shown = try (other ?? self).ask("/v1/device/operations/\(operation)")
        let statement = OperationStatement(
            head: head, operation: try #require(OperationID(hexadecimal: [UInt8](operation.utf8))),
            challenge: Challenge(random: try shown.binary("challenge")),
            template: [UInt8](try shown.text("template").utf8),
            data: [UInt8](try shown.text("data").utf8), decision: decision, claims: claims())
        return try send(
            "POST", "/v1/operations/\(operation)/decision",
            try signed(statement.encoded(), .operation))
    }

    private var head: StatementHead {
        StatementHead(
            audience: Audience("\(server.url)/shop"), account: ServerAccountName(account),
            device: id, credential: credential)
    }

    private func claims() -> StatementClaims {
        counter += 1
        return StatementClaims(
            factor: [UInt8]("fingerprint".utf8),
            integrity: Integrity(key: .tpm, secureBoot: .on), enrolment: 1, counter: counter,
            issued: Instant(seconds: UInt64(Date().timeIntervalSince1970)))
    }

    private func signed(
        _ text: [UInt8], _ namespace: SignatureNamespace
    ) throws -> [String: Any] {
        let signature = try key.signature(of: text, in: namespace)
        return ["statement": base64(text), "signature": base64(signature.blob)]
    }

    /// A call that the device signs.
    private func ask(_ path: String) throws -> [String: Any] {
        let lines = RequestLines(
            method: [UInt8]("GET".utf8), resource: [UInt8](path.utf8),
            nonce: (0..<32).map { _ in UInt8.random(in: 0...255) }, body: try SHA256.digest([]))
        let text = RequestStatement(head: head, request: lines, claims: claims()).encoded()
        let signature = try key.signature(of: text, in: .request)
        guard let header = SignetAuthorization(statement: text, signature: signature.blob).header
        else { throw TestFault.closed(awaited: "a header", transcript: path) }
        return try server.call(
            "GET", path, nil, authorization: String(decoding: header, as: UTF8.self)
        ).members
    }

    private func send(
        _ method: String, _ path: String, _ body: [String: Any]
    ) throws -> [String: Any] {
        try server.call(method, path, body, authorization: nil).members
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encode(bytes, alphabet: .url), as: UTF8.self)
}

extension [String: Any] {
    func text(_ name: String) throws -> String {
        guard let text = self[name] as? String else {
            throw TestFault.closed(awaited: name, transcript: "\(self)")
        }
        return text
    }

    func binary(_ name: String) throws -> [UInt8] {
        guard let bytes = Base64.decode([UInt8](try text(name).utf8), alphabet: .url) else {
            throw TestFault.closed(awaited: "\(name) in base64url", transcript: "\(self)")
        }
        return bytes
    }
}
