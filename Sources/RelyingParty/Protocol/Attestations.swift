// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import SQL
import ServerAPI
import SignedFormats
import TPMStructures

/// The first step of an attestation: whose TPM it is, and a secret that this TPM alone can read.
///
/// The second step is part of the proof of a registration (`AttestedKey`).
struct Attestations: Sendable {
    /// The authorities that the administrator trusts to certify TPMs; nil for none.
    let authorities: CertificateAuthorities?
    let core: ServerCore

    /// Whether this server checks attestations.
    var isOffered: Bool { authorities != nil }
}

extension Attestations {
    /// How long a TPM may take to read its secret, in seconds.
    static let seconds: Int64 = 120
    /// The extended use of certificates of endorsement keys: tcg-kp-EKCertificate.
    private static let endorsementUse = "2.23.133.8.1"

    /// `POST /v1/activations/requirements`: what the application of an activation code requires.
    ///
    /// The code stays valid. A device asks before it asks for a touch, so that a person does not
    /// touch the reader in vain.
    ///
    /// - Throws: `.activationRefused` as `beginRegistration` does.
    func requirements(_ call: Call) async throws(Problem) -> RegistrationRequirements {
        let fields = try call.body(RegistrationRequest.self)
        guard let code = try? ActivationCode(typed: [UInt8](fields.code.utf8)) else {
            throw .activationRefused
        }
        let hash = try core.made { () throws(CryptoFault) in try code.digest() }
        let now = core.now
        let found = try await core.read {
            store throws(DatabaseFault) -> (ApplicationRecord, AcceptedFactors)? in
            guard try store.activations.isValid(hash, at: now),
                let account = try store.activations.activationAccount(hash)
            else { return nil }
            let application = try store.applications.application(ofAccount: account)
            return try application.map { application throws(DatabaseFault) in
                (application, try store.challengeSteps.acceptedByDevices(of: application))
            }
        }
        guard let (application, accepted) = found else {
            return try await core.write { store throws(DatabaseFault) in
                try store.registrationSteps.audit(refusedCode: hash, from: call.origin, at: now)
                return .failure(.activationRefused)
            }
        }
        let policy = application.policy.forDevices(accepting: accepted)
        return RegistrationRequirements(
            application: application.name, keys: policy.keys, secureBoot: policy.secureBoot,
            attestation: isOffered, factors: policy.factors)
    }

    /// `POST /v1/registrations/{id}/attestation`: checks the certificate of a TPM, and makes a
    /// secret for it.
    ///
    /// Anyone who knows the id may call this: what comes of it is used by the proof alone. A later
    /// call replaces an earlier one.
    ///
    /// - Throws: `.conflict` if this server checks no attestations, `.attestationRefused` if the
    ///   certificate or the key is not accepted, and `.refused` if the registration does not await
    ///   a proof. The last two leave an audit line.
    func begin(_ call: Call) async throws(Problem) -> AttestationChallenge {
        let fields = try call.body(AttestationRequest.self)
        let id: RegistrationID = try call.id()
        guard let authorities else {
            throw .conflict("this server checks no attestations: it names no authorities")
        }
        let now = core.now
        let begun: Begun
        do throws(Problem) {
            begun = try prepare(fields, authorities: authorities, at: now)
        } catch {
            try await refuse(id, problem: error, from: call.origin)
            throw error
        }
        let expires = now + Self.seconds
        return try await core.write { store throws(DatabaseFault) in
            guard let signer = try store.signers.signer(registration: id),
                signer.registration.status == .created,
                signer.registration.created + Registrations.proofSeconds > now
            else { return .failure(.refused) }
            try store.attestations.begin(begun.record, of: id, until: expires)
            return .success(
                AttestationChallenge(
                    credential: Binary(begun.credential.blob), seed: Binary(begun.credential.seed),
                    expires: expires))
        }
    }

    /// A TPM whose certificate is valid, and the secret that was made for it.
    private struct Begun: Sendable {
        let record: AttestationRecord
        let credential: ProtectedCredential
    }

    private func prepare(
        _ fields: AttestationRequest, authorities: CertificateAuthorities, at now: Int64
    ) throws(Problem) -> Begun {
        guard let certificate = try? Certificate(der: fields.certificate.bytes) else {
            throw .attestationRefused("it is not a certificate of an RSA 2048 or P-256 key")
        }
        let objection = try core.made { () throws(CryptoFault) in
            try authorities.objection(to: certificate, at: now, use: Self.endorsementUse)
        }
        if let objection { throw .attestationRefused("\(objection)") }
        let area = PublicArea(bytes: fields.key.bytes)
        guard area.bytes.count <= PublicArea.limit, let point = area.attestationPoint,
            (try? P256PublicKey(point: point)) != nil
        else {
            throw .attestationRefused("'key' is not restricted to what its TPM says")
        }
        let secret = try core.random(SHA256.digestCount)
        return try core.made { () throws(CryptoFault) in
            Begun(
                record: AttestationRecord(
                    certificate: certificate.der, keyArea: area.bytes,
                    secretHash: try SHA256.digest(secret)),
                credential: try ProtectedCredential.protect(
                    secret, name: try area.name(), endorsement: certificate))
        }
    }

    private func refuse(
        _ id: RegistrationID, problem: Problem, from origin: Origin
    ) async throws(Problem) {
        let now = core.now
        _ = try await core.write { store throws(DatabaseFault) in
            if let signer = try store.signers.signer(registration: id) {
                var line = entry(.registration, signer: signer, problem: problem)
                line.detail = problem.title
                try store.auditTrail.note(line, from: origin, at: now)
            }
            return .success(())
        }
    }
}
