// SPDX-License-Identifier: Apache-2.0
import Crypto
import Database
import SignedFormats

/// An HTTP request, as whoever received it tells of it.
struct ReceivedRequest: Sendable {
    let method: [UInt8]
    /// What was asked for: of the server itself, path and query as they were sent.
    let resource: [UInt8]
    /// SHA-256 of the exact body, 32 bytes.
    let body: [UInt8]

    /// Whether these lines are about this request.
    func isMeant(by lines: RequestLines) -> Bool {
        lines.method == method && lines.resource == resource && lines.body == body
    }
}

/// Whose request it is, and what that was proven with.
struct AuthenticatedDevice: Sendable {
    let signer: Signer
    let factor: String
    /// The id of the MAC token that it was proven with; nil where a touch has signed.
    var macToken: [UInt8]?
}

/// The authentication code of an HTTP request: a header with a signed statement, or with a MAC.
struct Requests: Sendable {
    let applications: ApplicationCache
    let database: any Database
    let keys: ServerKeys
    let refusals: AuditQuota
    let core: ServerCore
    let signatures: SignatureVerification
}

extension Requests {
    /// `POST /v1/authentication/verify`: for a back end that received a request.
    ///
    /// The caller is who the API key says, so a bad proof is an answer and no refusal.
    func verifyAuthentication(_ call: Call) async throws(Problem) -> AuthenticationAnswer {
        let wish = try call.body(AuthenticationRequest.self)
        guard wish.body.bytes.count == SHA256.digestCount else {
            throw .malformed("'body' is not a SHA-256")
        }
        let received = ReceivedRequest(
            method: wish.method.bytes, resource: wish.resource.bytes, body: wish.body.bytes)
        do throws(Problem) {
            let device = try await authenticate(
                wish.authorization.bytes, received, for: try call.asking(), from: call.origin)
            return AuthenticationAnswer(device)
        } catch {
            // What cannot be read is refused before anybody has asked whether the key holds.
            let isUnread = error.code == Problem.malformed("").code || error == .unauthenticated
            let problem = isUnread ? try await objection(to: call.asking()) ?? error : error
            if problem == .apiKeyRefused { applications.forget(call.apiKey) }
            // What the server or the caller is at fault for says nothing of the proof.
            guard problem.status < 500, problem != .apiKeyRefused else { throw problem }
            return AuthenticationAnswer(refusedFor: problem)
        }
    }

    /// Who sent a request to this server itself, by its own header.
    func device(
        of request: ReceivedRequest, authorization header: [UInt8], from origin: Origin,
        isLeaving: Bool = false
    ) async throws(Problem) -> AuthenticatedDevice {
        return try await authenticate(
            header, request, for: nil, from: origin, isLeaving: isLeaving)
    }

    /// Checks a header of either scheme; `application` is the only one that it may be meant for.
    private func authenticate(
        _ header: [UInt8], _ received: ReceivedRequest, for application: AskingApplication?,
        from origin: Origin, isLeaving: Bool = false
    ) async throws(Problem) -> AuthenticatedDevice {
        switch try RequestProof(header: header) {
        case .signature(let authorization):
            let signer = try await acceptSigned(
                authorization, received, for: application, from: origin)
            return AuthenticatedDevice(signer: signer, factor: Factor.touch)
        case .mac(let authorization):
            let signer = try await acceptMAC(
                authorization, received, for: application, from: origin, isLeaving: isLeaving)
            return AuthenticatedDevice(
                signer: signer, factor: Factor.possession, macToken: authorization.token)
        }
    }

    /// Writes down that a request's code was refused, of what its header says of itself; not more of
    /// them than `refusals` has lines for.
    func refuseRequest(
        _ problem: Problem, _ detail: String, for application: AskingApplication?,
        from origin: Origin
    ) async throws(Problem) {
        guard refusals.hasLine(for: application, isSigned: false, from: origin) else {
            if let objection = try await objection(to: application) { throw objection }
            return
        }
        let now = core.now
        let entry = AuditEntry(event: .request, outcome: problem.code, detail: detail)
        try await core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
            guard try store.holds(application) else { return .failure(.apiKeyRefused) }
            try store.auditTrail.note(entry, from: origin, at: now)
            return .failure(problem)
        }
    }

    /// What stands against who asks: that the API key does not hold any more.
    func objection(
        to application: AskingApplication?
    ) async throws(Problem) -> Problem? {
        let holds = try await core.read { store throws(DatabaseFault) in
            try store.holds(application)
        }
        return holds ? nil : .apiKeyRefused
    }
}

extension Transaction {
    /// Whether who asks may still do so; a device that calls for itself needs no API key.
    func holds(_ application: AskingApplication?) throws(DatabaseFault) -> Bool {
        guard let application else { return true }
        return try applications.holds(apiKey: application.apiKey)
    }
}

/// A header that was read, and nothing of it checked.
private enum RequestProof {
    case signature(SignetAuthorization)
    case mac(MACAuthorization)

    /// Reads either scheme; each checks its own length first.
    init(header: [UInt8]) throws(Problem) {
        do throws(HeaderFault) {
            self = .signature(try SignetAuthorization(header: header))
        } catch .anotherScheme {
            do throws(HeaderFault) {
                self = .mac(try MACAuthorization(header: header))
            } catch .anotherScheme {
                throw .unauthenticated
            } catch {
                throw .malformed("the header is not in the form of its scheme")
            }
        } catch {
            throw .malformed("the header is not in the form of its scheme")
        }
    }
}
