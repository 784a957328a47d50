// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain
import Posix
import SQL
import ServerAPI
import SignedFormats

/// Issues, lists and revokes MAC tokens, with which a device authenticates without a touch.
///
/// A token has a secret of 32 bytes, which is returned once and stored sealed for its row. It
/// belongs to one registration, is valid for 30 days unless the request says otherwise (60 seconds
/// to 365 days), and replaces that registration's earlier token of the same name.
struct MACTokens: Sendable {
    let keys: ServerSigningKeys
    let challenges: Challenges
    let core: ServerCore
}

extension MACTokens {
    /// The default validity of a token, in seconds.
    private static let macTokenSeconds: Int64 = 30 * 86_400
    private static let secretCount = 32

    /// `POST /v1/mac-tokens`: issues a token to a device that has signed a challenge for it.
    ///
    /// The statement's purpose is the token's name. A token of the same name of this registration
    /// is revoked in the same transaction.
    ///
    /// - Throws: `.malformed` if the time or the name is not valid, and the problems of
    ///   `Challenges.redeem`.
    func makeMACToken(_ call: Call) async throws(Problem) -> IssuedMACToken {
        let fields = try call.body(MACTokenRequest.self)
        let seconds = fields.expiresIn ?? Self.macTokenSeconds
        guard (60...31_536_000).contains(seconds) else {
            throw .malformed("'expiresIn' must be 60 to 31536000 seconds")
        }
        let name = try tokenName(fields.proof)
        let secret = try freshSecret()
        let id: MACTokenID = try core.random()
        let sealed = try core.made { () throws(CryptoFault) in
            try keys.tokenSeal.seal(secret, row: id.bytes)
        }
        let now = core.now
        let expires = now + seconds
        let audience = try await challenges.redeem(
            fields.proof, action: .macToken, event: .macToken, from: call.origin
        ) { store, signer, _ throws(DatabaseFault) in
            try store.macTokens.keepMACToken(
                id, name: name, sealed: sealed, registration: signer.registration.id, at: now,
                until: expires)
            return .success(signer.application.audience)
        }
        let bytes = secret.withBytes { span in unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }
        return IssuedMACToken(
            token: id, name: name.text, secret: Binary(bytes), audience: audience,
            expires: expires)
    }

    /// `GET /v1/registrations/{id}/mac-tokens`: lists a registration's tokens, without secrets.
    ///
    /// Revoked and expired tokens are listed until they are deleted. Another application's
    /// registration is `.notFound`.
    func listMACTokens(_ call: Call) async throws(Problem) -> MACTokenList {
        let id: RegistrationID = try call.id()
        let application = try call.caller()
        let list = try await core.read { store throws(DatabaseFault) -> MACTokenList? in
            guard let signer = try store.signers.signer(registration: id),
                signer.application.id == application.id
            else { return nil }
            let tokens = try store.macTokens.list(ofRegistration: id)
            return MACTokenList(tokens: tokens.map { MACTokenState($0) })
        }
        guard let list else { throw .notFound }
        return list
    }

    /// `POST /v1/mac-tokens/{id}/revoke`: revokes a token of the calling application.
    func revokeMACToken(_ call: Call) async throws(Problem) {
        try call.emptyBody()
        let application = try call.caller()
        try await revoke(try call.id(), from: call.origin, by: "the application") { signer in
            signer.application.id == application.id
        }
    }

    /// `POST /v1/device/mac-tokens/{id}/revoke`: revokes a token of the calling device.
    ///
    /// A device that signed the request after a touch can revoke any token of its registration. One
    /// that sent a MAC can revoke only the token of that MAC.
    func revokeOwnMACToken(_ call: Call) async throws(Problem) {
        try call.emptyBody()
        let id: MACTokenID = try call.id()
        let device = try call.provenDevice()
        guard device.macToken == nil || device.macToken == id else { throw .notFound }
        try await revoke(id, from: call.origin, by: "the device") { signer in
            signer.registration.id == device.signer.registration.id
        }
    }

    /// Revokes a token and writes an audit line.
    ///
    /// - Throws: `.notFound` if there is no such token or if `mayBeAsked` rejects its owner, and
    ///   `.conflict` if it was already revoked.
    private func revoke(
        _ id: MACTokenID, from origin: Origin, by whom: String,
        _ mayBeAsked: @escaping @Sendable (Signer) -> Bool
    ) async throws(Problem) {
        let now = core.now
        try await core.write { store throws(DatabaseFault) -> Result<Void, Problem> in
            guard let (token, signer) = try store.macTokens.macToken(id), mayBeAsked(signer) else {
                return .failure(.notFound)
            }
            guard try store.macTokens.revokeMACToken(id, at: now) else {
                return .failure(.conflict("the token was already revoked"))
            }
            var line = entry(.revocation, signer: signer, problem: nil)
            line.detail = "MAC token '\(token.name)', by \(whom)"
            try store.auditTrail.note(line, from: origin, at: now)
            return .success(())
        }
    }

    /// The token's name: the statement's purpose, which the person has confirmed with the touch.
    private func tokenName(_ proof: SignedText) throws(Problem) -> Name {
        guard let statement = try? LoginStatement(parsing: proof.statement.bytes),
            let text = String(validating: statement.purpose, as: UTF8.self),
            let name = Name(text)
        else { throw .malformed("the statement's purpose is not a valid token name") }
        return name
    }

    private func freshSecret() throws(Problem) -> SecretBytes {
        do throws(SystemFault) {
            return try SecretBytes.random(Self.secretCount)
        } catch {
            report("no secret bytes: \(error)")
            throw .unavailable
        }
    }
}
