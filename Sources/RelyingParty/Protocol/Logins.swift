// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import ServerAPI
import SignedFormats

/// Logins, by a signed challenge or by an operation that a person approves on another device.
///
/// Either begins a token session and issues a pair of tokens. A login for a PAM module also gets a
/// verdict, which the server signs over the module's own challenge.
struct Logins: Sendable {
    let keys: ServerSigningKeys
    let challenges: Challenges
    let operations: Operations
    let core: ServerCore
    let tokens: Tokens
}

extension Logins {
    /// `POST /v1/login`: verifies a signed challenge and begins a token session.
    ///
    /// Anyone may call this; the proof is the signed challenge. For a PAM module, the statement's
    /// purpose must contain the module's challenge and the local account, so that the verdict is
    /// issued only for the module that the device signed for.
    ///
    /// A verdict is given only for a touch, since the module accepts nothing else.
    ///
    /// - Throws: `.malformed` if the module's challenge is not 32 bytes, `.policy` for a verdict by
    ///   password, and the problems of `Challenges.redeem`.
    func logIn(_ call: Call) async throws(Problem) -> AcceptedLogin {
        let fields = try call.body(SignedChallengeRequest.self)
        let fresh = try tokens.freshTokens()
        let now = core.now
        let module = fields.module.map { module in
            ModulePurpose.text(module.challenge, local: AccountName(module.account.text))
        }
        let (signer, statement) = try await challenges.redeem(
            fields.proof, action: .login, event: .login, from: call.origin
        ) {
            (store, signer, verified) throws(DatabaseFault) -> Result<
                (Signer, LoginStatement), Problem
            > in
            let statement = verified.content
            // The device did not sign this module's challenge: it was replaced on the way.
            if let module, statement.purpose != module { return .failure(.refused) }
            let factor = statement.claims.signer
            guard module == nil || factor == .fingerprint else { return .failure(.policy(.factor)) }
            try store.beginSession(
                fresh, of: signer, factor: factor.rawValue,
                from: SessionOrigin(address: call.origin.address, agent: call.origin.agent),
                at: now)
            return .success((signer, statement))
        }
        let factor = statement.claims.signer.rawValue
        return AcceptedLogin(
            application: signer.application.name,
            applicationRoles: signer.application.roles, account: signer.account.name,
            registration: signer.registration.id, status: signer.registration.status,
            factor: factor, remainingAttempts: signer.application.policy.maximumFailures,
            flags: signer.flags,
            roles: signer.account.roles,
            tokens: try tokens.pair(
                fresh, of: signer, methods: signer.methods(ofFactor: factor), at: now),
            verdict: try fields.module.map { module throws(Problem) in
                try verdict(for: module, signer: signer, statement: statement, at: now)
            })
    }

    /// Signs the verdict for a PAM module, which checks it with the key pinned on its machine.
    ///
    /// The verdict names the module's challenge, the account, the local account and the device, and
    /// expires after 60 seconds.
    func verdict(
        for module: ModuleRequest, signer: Signer, statement: LoginStatement, at now: Int64
    ) throws(Problem) -> SignedVerdict {
        let verdict = Verdict(
            audience: statement.head.audience, account: statement.head.account,
            local: AccountName(module.account.text), device: statement.head.device,
            challenge: statement.challenge, module: module.challenge, decision: .allow,
            issued: Instant(clamping: now),
            expires: Instant(clamping: now + ChallengeBinding.seconds))
        let text = verdict.encoded()
        return SignedVerdict(
            statement: Binary(text), signature: Binary(try keys.signVerdict(text)))
    }
}
