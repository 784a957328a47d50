// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Configuration
import Domain
import HTTPClient
import LoginProtocol
import Posix
import ServerAPI
import SignedFormats

/// Translates requests of signetd to HTTP calls, and a server's JSON to answers of limited size.
///
/// It never throws: a failed call gives `.unreachable` with a message for people, and a refusal
/// gives `.refused` with the server's code. It follows no redirect. Signatures in answers, such as
/// that of a verdict, are not verified here.
package struct Relay: Sendable {
    private let client: HTTPClient
    /// A client with a higher limit, for the one answer that is longer than all others.
    private let listClient: HTTPClient
    /// The maximum size of a list: 25 operations with every byte of their texts escaped.
    private static let listBytes = 256 * 1_024

    /// Creates a relay with the settings of the section `[relay]`.
    package init(_ configuration: ClientConfiguration) {
        client = HTTPClient(configuration)
        var long = configuration
        long.bodyLimit = Self.listBytes
        listClient = HTTPClient(long)
    }

    /// Calls the server; blocks the calling thread until there is an answer or a failure.
    ///
    /// Returns a single answer, or for a list one answer per item and a last one with their number.
    package func answers(_ request: RelayRequest) -> [RelayAnswer] {
        guard let server = CanonicalServerURL(request.server) else {
            return [.failed("the server's URL is not in canonical form")]
        }
        guard let call = HTTPCall(request) else {
            return [.failed("the request cannot be encoded")]
        }
        do throws(ClientFault) {
            let answer = try send(call, to: server)
            return answers(answer, to: call)
        } catch {
            let text = "\(error) (\(server.text))\(Self.advice(on: error))"
            if case .tlsRefused = error { complain("signet-relay: \(text)") }
            return [.failed(text, isRepeatable: error.isSafeToRepeat, isAway: error.isAway)]
        }
    }

    /// The end of a message that names the setting or condition which may be the cause of a fault.
    private static func advice(on fault: ClientFault) -> String {
        switch fault {
        case .tlsRefused(.unknownAuthority), .tlsRefused(.unusableAuthorities):
            ". See ca-file in the section [relay] of signet.conf(5)"
        case .tlsRefused(.anotherKey): ". See pin in the section [relay] of signet.conf(5)"
        case .tlsRefused(.expired), .tlsRefused(.notYetValid): ". Check this machine's clock, too"
        case .tlsRefused, .badRequest, .cannotConnect, .exhausted, .timedOut, .tooLarge, .broken,
            .cancelled:
            ""
        }
    }

    /// Calls the server for a request that has a single answer; a list is a failure.
    package func answer(_ request: RelayRequest) -> RelayAnswer {
        let answers = answers(request)
        return answers.count == 1 ? answers[0] : .failed("the server answered with a list")
    }

    /// Sends a call, and repeats it once if the connection broke and a repetition is harmless.
    ///
    /// It is harmless if nothing was sent yet, or if the call is marked as harmless. All other
    /// faults are thrown at once.
    private func send(_ call: HTTPCall, to server: CanonicalServerURL) throws(ClientFault)
        -> HTTPAnswer
    {
        let client = call.isList ? listClient : client
        var headers = [("Accept", "application/json")]
        if call.body != nil { headers.append(("Content-Type", "application/json")) }
        if let authorization = call.authorization {
            headers.append(("Authorization", authorization))
        }
        let request = ClientRequest(
            method: call.body == nil ? "GET" : "POST", url: server.text + call.path,
            headers: headers, body: call.body, limit: call.limit)
        do throws(ClientFault) {
            return try client.perform(request)
        } catch .broken(let sent, let reason) {
            guard !sent || call.isHarmless else { throw .broken(sent: sent, reason) }
            return try client.perform(request)
        }
    }

    private func answers(_ answer: HTTPAnswer, to call: HTTPCall) -> [RelayAnswer] {
        switch answer.status {
        case 200...299:
            guard let answers = call.read(answer.body),
                answers.allSatisfy({ (try? $0.encoded()) != nil })
            else {
                return [.failed("the server's answer does not match its documented form")]
            }
            return answers
        case 300...399:
            return [
                .failed("the server redirects (status \(answer.status)), which is not followed")
            ]
        default:
            guard let problem = value(ProblemDocument.self, of: answer.body), problem.isWellFormed,
                let status = UInt16(exactly: answer.status)
            else { return [.failed("the server answered with HTTP status \(answer.status)")] }
            return [
                .refused(
                    code: Bytes(problem.preciseCode.utf8), status: status,
                    attempts: problem.remainingAttempts.flatMap { UInt32(exactly: $0) })
            ]
        }
    }
}

/// An HTTP call: its path, its body, and how its answer is decoded.
///
/// `read` returns nil for an answer that docs/developer/SERVER-INTEGRATE.md does not allow.
private struct HTTPCall {
    let path: String
    /// The body to POST; nil for a GET.
    let body: Bytes?
    /// The Authorization header that signetd made for this call; nil for none.
    var authorization: String?
    /// Whether the server may safely receive the call twice.
    let isHarmless: Bool
    /// Whether the answer is a list.
    var isList = false
    /// A time limit that replaces the usual one.
    var limit: Duration?
    let read: @Sendable (Bytes) -> [RelayAnswer]?

    private init?(
        _ path: String, body: some Encodable, isHarmless: Bool = false,
        _ read: @escaping @Sendable (Bytes) -> RelayAnswer?
    ) {
        guard let body = json(body) else { return nil }
        self.path = path
        self.body = body
        self.isHarmless = isHarmless
        self.read = { bytes in read(bytes).map { [$0] } }
    }

    /// Creates a call with an Authorization header, which is valid only once, so the call is not
    /// repeated.
    private init?(
        with authorization: Bytes, path: String, body: Bytes? = nil, isList: Bool = false,
        _ read: @escaping @Sendable (Bytes) -> [RelayAnswer]?
    ) {
        guard let header = String(validating: authorization, as: UTF8.self) else { return nil }
        self.path = path
        self.body = body
        self.authorization = header
        isHarmless = false
        self.isList = isList
        self.read = read
    }

    init?(_ request: RelayRequest) {
        switch request {
        case .register(_, let code, let device, let name):
            guard let code = String(validating: code, as: UTF8.self) else { return nil }
            self.init(
                "/v1/registrations",
                body: RegistrationRequest(code: code, device: device, deviceName: name),
                RelayAnswer.registered(from:))
        case .prove(let proof):
            self.init(
                "/v1/registrations/\(hexadecimal(proof.registration))/proof",
                body: RegistrationProof(
                    publicKey: Binary(proof.publicKey.bytes), statement: Binary(proof.statement),
                    signature: Binary(proof.signature),
                    attestation: proof.attestation.map(KeyAttestation.init),
                    passwordKey: proof.passwordKey.map { NewPasswordKey($0) }),
                RelayAnswer.proven(from:))
        case .passwordKey(_, let registration, let statement, let signature, let key):
            self.init(
                "/v1/registrations/\(hexadecimal(registration))/password-key",
                body: PasswordKeyRequest(
                    statement: Binary(statement), signature: Binary(signature),
                    passwordKey: NewPasswordKey(key)), RelayAnswer.proven(from:))
        case .challenge(let challenge):
            guard let body = ChallengeRequest(challenge) else { return nil }
            self.init(
                "/v1/login/challenge", body: body, isHarmless: true, RelayAnswer.challenge(from:))
            limit = challenge.milliseconds.map { .milliseconds(Int64($0)) }
        case .login(let login):
            guard let body = SignedChallengeRequest(login) else { return nil }
            self.init("/v1/login", body: body, RelayAnswer.loggedIn(from:))
        case .remove(_, let registration, let statement, let signature):
            self.init(
                "/v1/registrations/\(hexadecimal(registration))/disable",
                body: SignedText(statement: Binary(statement), signature: Binary(signature))
            ) { _ in .removed }
        case .macToken, .operations, .operation, .decide, .endMACToken:
            self.init(aboutOperations: request)
        case .sessions, .endSession, .endSessions: self.init(aboutSessions: request)
        case .requirements, .attest: self.init(aboutAttestation: request)
        }
    }

    /// The calls about MAC tokens and operations.
    private init?(aboutOperations request: RelayRequest) {
        switch request {
        case .macToken(_, let statement, let signature):
            self.init(
                "/v1/mac-tokens",
                body: MACTokenRequest(
                    statement: Binary(statement), signature: Binary(signature), expiresIn: nil),
                RelayAnswer.macToken(from:))
        case .operations(_, let authorization):
            self.init(
                with: authorization, path: "/v1/device/operations", isList: true,
                RelayAnswer.operations(from:))
        case .operation(_, let authorization, let operation):
            self.init(
                with: authorization, path: "/v1/device/operations/\(hexadecimal(operation))"
            ) { body in RelayAnswer.operation(from: body).map { [$0] } }
        case .decide(let decision):
            self.init(
                "/v1/operations/\(hexadecimal(decision.operation))/decision",
                body: SignedText(
                    statement: Binary(decision.statement),
                    signature: Binary(decision.signature)), RelayAnswer.decided(from:))
        case .endMACToken(_, let authorization, let token):
            // Exactly these bytes are sent, because the header covers their digest.
            self.init(
                with: authorization, path: "/v1/device/mac-tokens/\(hexadecimal(token))/revoke",
                body: RelayRequest.emptyBody
            ) { _ in [.removed] }
        case .register, .prove, .passwordKey, .challenge, .login, .remove, .requirements, .attest,
            .sessions, .endSession, .endSessions:
            return nil
        }
    }

    /// The calls about sessions. Exactly `emptyBody` is sent, because the header covers its digest.
    private init?(aboutSessions request: RelayRequest) {
        switch request {
        case .sessions(_, let authorization):
            self.init(
                with: authorization, path: "/v1/device/sessions", isList: true,
                RelayAnswer.sessions(from:))
        case .endSession(_, let authorization, let session):
            self.init(
                with: authorization, path: "/v1/device/sessions/\(hexadecimal(session))/revoke",
                body: RelayRequest.emptyBody
            ) { body in RelayAnswer.sessionsEnded(from: body).map { [$0] } }
        case .endSessions(_, let authorization):
            self.init(
                with: authorization, path: "/v1/device/sessions/revoke",
                body: RelayRequest.emptyBody
            ) { body in RelayAnswer.sessionsEnded(from: body).map { [$0] } }
        case .register, .prove, .passwordKey, .challenge, .login, .remove, .macToken, .operations,
            .operation, .decide, .endMACToken, .requirements, .attest:
            return nil
        }
    }

    /// The calls about what a TPM has to prove.
    private init?(aboutAttestation request: RelayRequest) {
        switch request {
        case .requirements(_, let code, let device):
            guard let code = String(validating: code, as: UTF8.self) else { return nil }
            self.init(
                "/v1/activations/requirements",
                body: RegistrationRequest(code: code, device: device), isHarmless: true,
                RelayAnswer.requirements(from:))
        case .attest(let attestation):
            self.init(
                "/v1/registrations/\(hexadecimal(attestation.registration))/attestation",
                body: AttestationRequest(
                    certificate: Binary(attestation.certificate),
                    key: Binary(attestation.attestationKey)),
                RelayAnswer.attestation(from:))
        case .register, .prove, .passwordKey, .challenge, .login, .remove, .macToken, .operations,
            .operation, .decide, .endMACToken, .sessions, .endSession, .endSessions:
            return nil
        }
    }
}

extension RelayAnswer {
    /// Returns the answer for a call without a usable result; `why` is cut to the limit of a text.
    static func failed(
        _ why: String, isRepeatable: Bool = false, isAway: Bool = false
    ) -> RelayAnswer {
        .unreachable(
            why: Bytes(why.utf8.prefix(Limit.text)), isRepeatable: isRepeatable, isAway: isAway)
    }
}
