// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats

/// An HTTP request that is to be authenticated, as described by the server that received it.
struct ReceivedRequest: Sendable {
    let method: [UInt8]
    /// The request target; for a request to this server, path and query exactly as they were sent.
    let resource: [UInt8]
    /// SHA-256 of the exact body, 32 bytes.
    let body: [UInt8]

    /// Whether the signed lines name exactly this method, target and body digest.
    func isMeant(by lines: RequestLines) -> Bool {
        lines.method == method && lines.resource == resource && lines.body == body
    }
}

/// The device that sent a request, and how the device was authenticated.
struct AuthenticatedDevice: Sendable {
    let signer: Signer
    let factor: String
    /// The id of the MAC token that authenticated it; nil if a touch signed the request.
    var macToken: MACTokenID?
}

/// Verifies the authentication code of an HTTP request.
///
/// The code is a header, `Authorization: Signet` with a signed statement or `Authorization:
/// SignetMAC` with a MAC. It covers method, target, body digest, time and nonce, and is accepted
/// once, within 30 seconds of the server's clock. Back ends ask about requests that they received;
/// devices use the same codes in their own calls to this server.
struct Requests: Sendable {
    let database: any Database
    let keys: ServerSigningKeys
    let refusals: AuditQuota
    let core: ServerCore
    let signatures: SignatureVerification
    let macSecrets = MACSecretCache(half: 2_048)
}

extension Requests {
    /// `POST /v1/authentication/verify`: verifies a code for a back end that received the request.
    ///
    /// The caller is authenticated by its API key, so an invalid code is an answer with status 200,
    /// `valid: false` and a code. Only codes for the calling application are accepted.
    ///
    /// - Throws: only faults of the call or of the server: `.malformed` if a field of the body is
    ///   wrong, the problem of the API key if it no longer permits the call, and `.unavailable`.
    func verifyAuthentication(_ call: Call) async throws(Problem) -> AuthenticationAnswer {
        let fields = try call.body(AuthenticationRequest.self)
        guard fields.body.bytes.count == SHA256.digestCount else {
            throw .malformed("'body' is not a SHA-256 digest")
        }
        let received = ReceivedRequest(
            method: fields.method.bytes, resource: fields.resource.bytes, body: fields.body.bytes)
        do throws(Problem) {
            let device = try await authenticate(
                fields.authorization.bytes, received: received, for: try call.asking(),
                from: call.origin)
            return AuthenticationAnswer(device)
        } catch {
            // A header is parsed before the API key is checked, so the key is checked here.
            let isUnread = error.code == Problem.malformed("").code || error == .unauthenticated
            let problem = isUnread ? try await objection(to: call.asking()) ?? error : error
            // Faults of the server or of the caller say nothing about the code.
            guard problem.status < 500, !problem.isAboutAPIKey else { throw problem }
            let asking = try call.caller()
            return AuthenticationAnswer(
                refusedFor: problem, application: asking.name, roles: asking.roles)
        }
    }

    /// Authenticates a request that a device sent to this server, by its own `Authorization`
    /// header.
    ///
    /// With `isLeaving`, a MAC is accepted whatever the application's policy, since a device may
    /// always end its own token.
    func device(
        of request: ReceivedRequest, authorization header: [UInt8], from origin: Origin,
        isLeaving: Bool = false
    ) async throws(Problem) -> AuthenticatedDevice {
        return try await authenticate(
            header, received: request, for: nil, from: origin, isLeaving: isLeaving)
    }

    /// Verifies a header of either scheme; the code must be for `application`, unless that is nil.
    private func authenticate(
        _ header: [UInt8], received: ReceivedRequest, for application: AskingApplication?,
        from origin: Origin, isLeaving: Bool = false
    ) async throws(Problem) -> AuthenticatedDevice {
        switch try RequestProof(header: header) {
        case .signature(let authorization):
            let signer = try await acceptSigned(
                authorization, received: received, for: application, from: origin)
            return AuthenticatedDevice(signer: signer, factor: AuthenticationFactor.touch)
        case .mac(let authorization):
            let signer = try await acceptMAC(
                authorization, received: received, for: application, from: origin,
                isLeaving: isLeaving)
            return AuthenticatedDevice(
                signer: signer, factor: AuthenticationFactor.possession,
                macToken: authorization.token)
        }
    }

    /// Records a refused code in the audit trail, or only counts it if `refusals` has no line left.
    ///
    /// - Throws: the problem of the caller's API key if it no longer permits the call; otherwise
    ///   `problem`, once it is recorded. If the refusal was only counted, it returns, and the caller
    ///   throws.
    func refuseRequest(
        _ problem: Problem, detail: String, for application: AskingApplication?,
        from origin: Origin
    ) async throws(Problem) {
        guard refusals.hasLine(for: application, isSigned: false, from: origin) else {
            if let objection = try await objection(to: application) { throw objection }
            return
        }
        let now = core.now
        let entry = AuditEntry(event: .request, outcome: problem.code, detail: detail)
        try await core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
            if let objection = try store.objection(to: application, at: now) {
                return .failure(objection)
            }
            try store.auditTrail.note(entry, from: origin, at: now)
            return .failure(problem)
        }
    }

    /// Returns why the caller's API key no longer permits the call; nil if it does.
    func objection(
        to application: AskingApplication?
    ) async throws(Problem) -> Problem? {
        let now = core.now
        return try await core.read { store throws(DatabaseFault) in
            try store.objection(to: application, at: now)
        }
    }
}

/// A header that has been parsed but not verified.
enum RequestProof {
    case signature(SignetAuthorization)
    case mac(MACAuthorization)

    /// Parses a header of either scheme; both parsers check the length first.
    init(header: [UInt8]) throws(Problem) {
        do throws(HeaderFault) {
            self = .signature(try SignetAuthorization(header: header))
        } catch .anotherScheme {
            do throws(HeaderFault) {
                self = .mac(try MACAuthorization(header: header))
            } catch .anotherScheme {
                throw .unauthenticated
            } catch {
                throw .malformed("the header does not have the form of its scheme")
            }
        } catch {
            throw .malformed("the header does not have the form of its scheme")
        }
    }
}
