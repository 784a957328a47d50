// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import SQL
import ServerAPI
import SignedFormats

/// Something that only its owner can use, and that therefore has its own limit.
///
/// A network that has used up its calls must not keep an honest caller in it from proving what it
/// can prove. So such a call is checked, as far as that can be done without a write, by the
/// functions that return a `LimitedItem`. One whose proof is right is admitted by the item's own
/// limit; all others are refused, without an audit line or a write.
///
/// What is wrong never counts against an item: otherwise a neighbour who has seen an id, in the
/// header of a request for example, could use up the item's limit for its owner. What does count is
/// a right proof that is refused, for example by the policy, or because it comes twice.
enum LimitedItem: Hashable, Sendable {
    /// An activation code that can be used now, by its digest.
    case activation([UInt8])
    /// A challenge, of which the call has the one right answer.
    case challenge(Challenge)
    /// A refresh token, by its digest; also one that was used, which ends its session.
    case refreshToken([UInt8])
    /// A token session, one of whose tokens is to be revoked.
    case session(SessionID)
    /// A credential, whose key has signed a request that was not sent before.
    case credential(CredentialID)
    /// A MAC token, with which a request that was not sent before was authenticated.
    case macToken(MACTokenID)
    /// An ACTIVE registration, whose device asks for a challenge.
    case device(RegistrationID)
    /// A registration that was begun, whose device names its TPM.
    case begun(RegistrationID)
}

extension Challenges {
    /// The challenge that a signed text answers; nil unless the answer is right and was not given.
    ///
    /// The checks are those of `redeem` up to the signature. Nothing is changed.
    ///
    /// - Throws: only faults of the server.
    func item(
        ofAnswer proof: SignedText, action: ChallengeAction
    ) async throws(Problem) -> LimitedItem? {
        guard
            let signed = try? UnverifiedStatement<LoginStatement>(
                parsing: proof.statement.bytes, signature: proof.signature.bytes),
            signed.content.action == [UInt8](action.rawValue.utf8)
        else { return nil }
        let statement = signed.content
        let now = core.now
        let signer = try await core.read { store throws(DatabaseFault) -> Signer? in
            guard let signer = try store.signers.signer(statement.head) else { return nil }
            let binding = ChallengeBinding(
                application: signer.application.id, account: signer.account.name,
                device: statement.head.device, action: action)
            let isUnused = try store.challenges.isUnused(
                challenge: statement.challenge, binding: binding, at: now)
            return isUnused ? signer : nil
        }
        guard let signer,
            signatures.verified(signed, in: .login, by: signer, for: statement.claims.signer)
                != nil
        else { return nil }
        return .challenge(statement.challenge)
    }

    /// The registration of the device that asks for a challenge; nil unless it is ACTIVE, and for
    /// this application and account.
    func item(ofRequest fields: ChallengeRequest) async throws(Problem) -> LimitedItem? {
        let registration = try await core.read { store throws(DatabaseFault) in
            try store.registrations.active(
                application: fields.application.text, account: fields.account.text,
                device: fields.device)
        }
        return registration.map { .device($0) }
    }
}

extension Registrations {
    /// The activation code of a request; nil unless it can be used now.
    func item(ofRequest fields: RegistrationRequest) async throws(Problem) -> LimitedItem? {
        guard let code = try? ActivationCode(typed: [UInt8](fields.code.utf8)),
            let hash = try? code.digest()
        else { return nil }
        let now = core.now
        let isValid = try await core.read { store throws(DatabaseFault) in
            try store.activations.isValid(hash, at: now)
        }
        return isValid ? .activation(hash) : nil
    }

    /// The challenge that a new key has signed; nil unless it was issued for this registration,
    /// which was begun and not proven.
    func item(
        ofProof proof: RegistrationProof, for id: RegistrationID
    ) async throws(Problem) -> LimitedItem? {
        guard
            let signed = try? UnverifiedStatement<LoginStatement>(
                parsing: proof.statement.bytes, signature: proof.signature.bytes),
            signed.content.action == LoginAction.register
        else { return nil }
        let statement = signed.content
        let now = core.now
        let isAwaited = try await core.read { store throws(DatabaseFault) in
            guard let signer = try store.signers.signer(registration: id),
                signer.registration.status == .created,
                signer.registration.device == statement.head.device
            else { return false }
            let binding = ChallengeBinding(
                application: signer.application.id, account: signer.account.name,
                device: statement.head.device, action: .register)
            return try store.challenges.isUnused(
                challenge: statement.challenge, binding: binding, at: now)
        }
        guard isAwaited, signed.verified(by: proof.publicKey.bytes, in: .registration) != nil
        else { return nil }
        return .challenge(statement.challenge)
    }
}

extension Attestations {
    /// The registration whose device names its TPM; nil unless it was begun and not proven.
    ///
    /// Only its device has been told its id.
    func item(for id: RegistrationID) async throws(Problem) -> LimitedItem? {
        let status = try await core.read { store throws(DatabaseFault) in
            try store.registrations.registration(id)?.status
        }
        return status == .created ? .begun(id) : nil
    }
}

extension Operations {
    /// The operation's challenge in a decision; nil unless the operation is PENDING and the
    /// signature right.
    func item(
        ofDecision proof: SignedText, on id: OperationID
    ) async throws(Problem) -> LimitedItem? {
        guard
            let signed = try? UnverifiedStatement<OperationStatement>(
                parsing: proof.statement.bytes, signature: proof.signature.bytes),
            signed.content.operation == id
        else { return nil }
        let statement = signed.content
        let now = core.now
        let signer = try await core.read { store throws(DatabaseFault) -> Signer? in
            guard let signer = try store.signers.signer(statement.head),
                let operation = try store.operations.operation(id), operation.isFor(signer),
                constantTimeEqual(operation.challenge.bytes, statement.challenge.bytes),
                operation.status(at: now) == .pending
            else { return nil }
            return signer
        }
        guard let signer,
            let point = signer.registration.key(for: statement.claims.signer),
            signed.verified(by: point, in: .operation) != nil
        else { return nil }
        return .challenge(statement.challenge)
    }
}
