// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import FoundationEssentials
import HTTPServer
import Posix
import RelyingParty
import SQL
import SignedFormats
import TestSupport

/// A server with one application and its devices, and calls to it that are ready to be sent.
final class ServerSite: Sendable {
    /// What is measured.
    enum Kind: String, CaseIterable {
        /// The signed challenge against tokens; the challenge was asked for before.
        case login = "challenge login"
        case signed = "request's code, signed"
        case mac = "request's code, MAC"
    }

    /// How the server is called from outside.
    static let issuer = "https://id.example.org"
    private static let resource = "/v1/payments"
    /// The server, without its sockets.
    let dispatcher: Dispatcher
    private let apiKey: String
    private let application: String
    private let devices: [Device]

    /// With so many registered devices, each of an account of its own, of an application of this
    /// name. Those that call are at most `callers`, and lie all over.
    init(
        on database: any Database, devices count: Int, callers: Int = .max,
        application: String = "shop", master: SecretBytes? = nil,
        rates: NetworkRates = NetworkRates(standard: 1_000_000_000)
    ) async throws {
        let secret = try master ?? .random(32)
        guard
            let dispatcher = await Dispatcher.inProcess(
                database, master: secret, issuer: Self.issuer, rates: rates)
        else { throw BenchFault.unexpected("no server") }
        self.dispatcher = dispatcher
        self.application = application
        let (id, apiKey) = try await Self.makeApplication(application, in: database)
        self.apiKey = apiKey
        // One key for all: OpenSSL's secure memory holds few private ones. Each has a credential
        // of its own all the same.
        let key = try P256PrivateKey.generate()
        let audience = "\(Self.issuer)/\(application)"
        let stride = max(1, count / callers)
        var devices: [Device] = []
        for start in Swift.stride(from: 0, to: count, by: 10_000) {
            let made = try (start..<min(count, start + 10_000)).map { index in
                try Device(account: "person\(index)", key: key, audience: audience)
            }
            try await Self.register(made, of: id, in: database)
            devices += made.enumerated().filter { (start + $0.offset) % stride == 0 }.map(\.element)
        }
        self.devices = devices
    }

    /// So many calls, of one device after the other.
    func prepare(_ kind: Kind, _ count: Int) async throws -> [HTTPRequest] {
        let challenges = kind == .login ? try await challenges(count) : []
        if kind == .mac { try await fetchTokens() }
        return try (0..<count).map { index in
            let device = devices[index % devices.count]
            switch kind {
            case .login:
                return call("/v1/login", try device.signed(challenges[index], "login", .login))
            case .signed: return verification(of: try device.header(Self.lines()))
            case .mac: return verification(of: try device.macHeader(Self.lines()))
            }
        }
    }

    /// Asks for a challenge for a device and has the device answer it; false if either is refused.
    func logIn(_ index: Int) async throws -> Bool {
        let device = devices[index % devices.count]
        let answer = await dispatcher.answer(
            call("/v1/login/challenge", request(of: device.account, device.idText, "login")))
        guard answer.status == 200 else { return false }
        let challenge = try JSONDecoder().decode(Challenge.self, from: Data(answer.body))
        let body = try device.signed(challenge.challenge, "login", .login)
        return await dispatcher.answer(call("/v1/login", body)).status == 200
    }

    /// Asks for a challenge for a device that does not exist; false if that is refused.
    func askAsStranger() async -> Bool {
        let id = String(repeating: "0", count: 32)
        return await dispatcher.answer(
            call("/v1/login/challenge", request(of: "person0", id, "login"))
        ).status == 200
    }

    private func request(of account: String, _ device: String, _ action: String) -> String {
        #"{"application":"\#(application)","account":"\#(account)","device":"\#(device)","#
            + #""action":"\#(action)"}"#
    }

    private static func makeApplication(
        _ name: String, in database: any Database
    ) async throws -> (id: Int64, apiKey: String) {
        let key = try BearerSecret.apiKey.generate()
        let digest = key.digest
        let id = try await database.write { store throws(DatabaseFault) in
            let rows = try store.run(
                """
                INSERT INTO application (name, audience, devices, commit_required, biometrics,
                    minimum_key, minimum_boot, max_failures, access_seconds, refresh_seconds,
                    created)
                VALUES ($1, $2, 'several', 0, 1, 'any', 'any', 5, 300, 86400, 0) RETURNING id
                """, [.text(name), .text("\(issuer)/\(name)")])
            guard let id = try rows.first?.integer(0) else { throw .broken("no application") }
            try store.run(
                """
                INSERT INTO api_key (hash, application, name, created, scopes)
                VALUES ($1, $2, 'bench', 0, 'verify registrations operations logins')
                """, [.bytes(digest), .integer(id)])
            return id
        }
        return (id, String(decoding: key.text, as: UTF8.self))
    }

    /// Writes down what registrations by calls would, without asking each key for its proof.
    private static func register(
        _ devices: [Device], of application: Int64, in database: any Database
    ) async throws {
        let rows = try devices.map { device in
            (device.account, try randomBytes(16), device.id, device.credential)
        }
        let point = devices.first?.key.publicPoint ?? []
        try await database.write { store throws(DatabaseFault) in
            for (account, id, device, credential) in rows {
                let made = try store.run(
                    """
                    INSERT INTO account (application, name, blocked, flags, roles, created)
                    VALUES ($1, $2, 0, '', '', 0) RETURNING id
                    """, [.integer(application), .text(account)])
                guard let account = made.first else { throw .broken("no account") }
                try store.run(
                    """
                    INSERT INTO registration (id, account, device, credential, public_key, status,
                        reason, counter, enrolment, failures, key_kind, secure_boot, flags,
                        created, changed)
                    VALUES ($1, $2, $3, $4, $5, 'ACTIVE', '', 0, 1, 0, 'tpm', 'on', '', 0, 0)
                    """,
                    [
                        .bytes(id), .integer(try account.integer(0)), .bytes(device.bytes),
                        .bytes(credential.bytes), .bytes(point),
                    ])
            }
        }
    }

    // MARK: Calls

    private func challenge(_ device: Device, _ action: String) async throws -> String {
        try await ask(
            "/v1/login/challenge", request(of: device.account, device.idText, action),
            Challenge.self
        ).challenge
    }

    /// So many challenges, of one device after the other; they are asked for at once.
    private func challenges(_ count: Int) async throws -> [String] {
        try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for index in 0..<count {
                group.addTask {
                    let device = self.devices[index % self.devices.count]
                    return (index, try await self.challenge(device, "login"))
                }
            }
            return try await group.reduce(into: [String](repeating: "", count: count)) {
                $0[$1.0] = $1.1
            }
        }
    }

    private func fetchTokens() async throws {
        for device in devices where device.token == nil {
            let challenge = try await challenge(device, "mac-token")
            let body = try device.signed(challenge, "mac-token", .login)
            device.token = try await ask("/v1/mac-tokens", body, Token.self)
        }
    }

    private static func lines() throws -> RequestLines {
        RequestLines(
            method: [UInt8]("POST".utf8), resource: [UInt8](resource.utf8),
            nonce: try randomBytes(32), body: [UInt8](repeating: 7, count: 32))
    }

    private func verification(of header: String) -> HTTPRequest {
        let escaped = header.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\\\"")
        let digest = base64([UInt8](repeating: 7, count: 32))
        return call(
            "/v1/authentication/verify",
            #"{"authorization":"\#(escaped)","method":"POST","resource":"\#(Self.resource)","#
                + #""body":"\#(digest)"}"#, key: apiKey)
    }

    private func call(_ path: String, _ body: String, key: String? = nil) -> HTTPRequest {
        var headers = [
            (name: "host", value: "localhost"), (name: "user-agent", value: "bench"),
            (name: "content-type", value: "application/json"),
        ]
        if let key { headers.append((name: "authorization", value: "Bearer \(key)")) }
        return HTTPRequest(
            method: "POST", path: path, headers: headers, body: [UInt8](body.utf8),
            peer: "127.0.0.1")
    }

    private func ask<Answer: Decodable>(
        _ path: String, _ body: String, _ type: Answer.Type, key: String? = nil
    ) async throws -> Answer {
        let answer = await dispatcher.answer(call(path, body, key: key))
        guard answer.status < 300 else {
            throw BenchFault.unexpected(String(decoding: answer.body, as: UTF8.self))
        }
        return try JSONDecoder().decode(type, from: Data(answer.body))
    }

    private struct Challenge: Decodable { let challenge: String }

    /// A MAC token as the server tells it.
    struct Token: Decodable, Sendable {
        let token: String
        let secret: String
    }

    // MARK: Devices

    /// One device with its key.
    // SAFETY: one task prepares all calls, and nobody else has it.
    private final class Device: @unchecked Sendable {
        let account: String
        let key: P256PrivateKey
        var id: DeviceID { head.device }
        var credential: CredentialID { head.credential }
        var idText: String { String(decoding: id.hexadecimal, as: UTF8.self) }
        var token: Token?
        private let head: StatementHead
        private var counter: UInt64 = 1

        init(account: String, key: P256PrivateKey, audience: String) throws {
            self.account = account
            self.key = key
            head = StatementHead(
                audience: Audience(audience), account: ServerAccountName(account),
                device: DeviceID(random: try randomBytes(DeviceID.count)),
                credential: CredentialID(random: try randomBytes(CredentialID.count)))
        }

        /// The body of a signed challenge.
        func signed(
            _ challenge: String, _ action: String, _ namespace: SignatureNamespace
        ) throws -> String {
            guard let bytes = Base64.decode([UInt8](challenge.utf8), alphabet: .url),
                let challenge = Domain.Challenge(bytes)
            else { throw BenchFault.unexpected("no challenge") }
            let text = LoginStatement(
                head: head, challenge: challenge, action: [UInt8](action.utf8),
                service: ServiceName("signet"), terminal: [], purpose: [UInt8]("bench".utf8),
                claims: claims()
            ).encoded()
            let signature = try key.signature(of: text, in: namespace).blob
            return #"{"statement":"\#(base64(text))","signature":"\#(base64(signature))"}"#
        }

        /// The header of a signed request.
        func header(_ lines: RequestLines) throws -> String {
            let text = RequestStatement(head: head, request: lines, claims: claims()).encoded()
            let signature = try key.signature(of: text, in: .request).blob
            let header = SignetAuthorization(statement: text, signature: signature).header
            return String(decoding: header ?? [], as: UTF8.self)
        }

        /// The header of a request with a MAC.
        func macHeader(_ lines: RequestLines) throws -> String {
            guard let token, let id = MACTokenID(hexadecimal: [UInt8](token.token.utf8)),
                var secret = Base64.decode([UInt8](token.secret.utf8), alphabet: .url)
            else { throw BenchFault.unexpected("no MAC token") }
            let issued = now
            let text = MACText(
                audience: head.audience, token: id, request: lines, issued: issued)
            let mac = try HMAC.sha256(
                of: text.encoded(), key: try SecretBytes(moving: &secret))
            let header = MACAuthorization(
                token: id, nonce: lines.nonce, issued: issued, mac: mac)
            return String(decoding: header.header, as: UTF8.self)
        }

        private func claims() -> StatementClaims {
            counter += 1
            return StatementClaims(
                factor: [UInt8]("fingerprint".utf8),
                integrity: Integrity(key: .tpm, secureBoot: .on), enrolment: 1, counter: counter,
                issued: now)
        }

        private var now: Instant {
            Instant(seconds: UInt64(clamping: Clock.system.wallSeconds()))
        }
    }
}

private func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encode(bytes, alphabet: .url), as: UTF8.self)
}
