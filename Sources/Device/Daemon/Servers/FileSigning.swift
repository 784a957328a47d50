// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Gate
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Signs files, challenges and HTTP requests for other parties, each after a touch that leaves a
/// receipt.
///
/// Each kind has its own SSHSIG namespace, so that no signature is valid as another kind.
/// Files and challenges are signed with the account's signing key, HTTP requests with the key for
/// their server. The account's login credential signs none of them.
@ServiceActor
final class FileSigning {
    let journal: DecisionJournal
    let accounts: Accounts
    let keys: ServerKeys
    let guards: TouchGuards
    let touches: Touches

    init(
        journal: DecisionJournal, accounts: Accounts, keys: ServerKeys,
        guards: TouchGuards, touches: Touches
    ) {
        self.journal = journal
        self.accounts = accounts
        self.keys = keys
        self.guards = guards
        self.touches = touches
    }
}

extension FileSigning {
    var handlers: [RequestHandler] {
        [
            RequestHandler(sign), RequestHandler(enableSigning).checkingFirst(checkEnabling),
            RequestHandler(disableSigning).checkingFirst(checkDisabling),
            RequestHandler(showSigningKey),
        ]
    }

    /// Signs a file, several files, a challenge or an HTTP request, after one touch.
    ///
    /// The touch covers everything in the request. Throws `badRequest` for an invalid server or
    /// method, or for what is too long to be shown whole, `noSigningKey`, `signingKeyInvalidated`,
    /// the corresponding denials for a server's key, and those of the touch.
    func sign(
        _ request: SignRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        guard request.matter.isShownWhole else { throw Denial(.badRequest) }
        let key = try await signingKey(for: request.matter, account: account)
        let matter = try keys.ownMatter(request.matter.purpose, account: account)
        let plan = guards.plan(
            for: SignRequest.self, account: account, milliseconds: request.timeoutMilliseconds)
        return try await touches.afterTouch(plan, matter: matter, client: client) {
            (snapshot, touch) throws(Denial) in
            if case .files(let files) = request.matter {
                return try await self.sign(
                    files, by: key, account: account, snapshot: snapshot, for: touch, client: client
                )
            }
            return .signed(
                try await self.signature(
                    request.matter, by: key, account: account, snapshot: snapshot, for: touch))
        }
    }

    /// Signs several files; the client gets all signatures or none.
    func sign(
        _ files: [FileDigest], by key: ServerKey, account: Account, snapshot: AccountSnapshot,
        for touch: Touch<ScannedFinger>, client: any Client
    ) async throws(Denial) -> Answer {
        var answers: [SignedFileAnswer] = []
        for file in files {
            let matter = SigningMatter.file(name: file.name, digest: file.digest)
            let signed = try await signature(
                matter, by: key, account: account, snapshot: snapshot, for: touch)
            answers.append(SignedFileAnswer(digest: file.digest, signature: signed.signature))
        }
        for answer in answers { await client.send(.of(answer)) }
        return .done(DoneAnswer())
    }

    /// The key to sign with, if it fits the present fingers; otherwise throws the denial for its
    /// state.
    private func signingKey(
        for matter: SigningMatter, account: Account
    ) async throws(Denial) -> ServerKey {
        switch matter {
        case .file, .files, .challenge: return try await keys.goodSigningKey(of: account)
        case .request(let server, let method, _, _):
            guard let url = CanonicalServerURL(server), RequestLines.isMethod(method) else {
                throw Denial(.badRequest)
            }
            return try await keys.goodKey(for: url, account: account)
        }
    }

    /// Signs one file, challenge or HTTP request.
    ///
    /// The digest of a file comes from the client; the texts of the others are composed here and
    /// returned with the signature.
    private func signature(
        _ matter: SigningMatter, by key: ServerKey, account: Account, snapshot: AccountSnapshot,
        for touch: Touch<ScannedFinger>
    ) async throws(Denial) -> SignedAnswer {
        switch matter {
        case .file(_, let digest):
            return try await keys.signed(
                by: key, in: .file, account: account, snapshot: snapshot, for: .finger(touch)
            ) { _ in
                SignedMessage(digest: digest)
            }
        // Each file of a list is signed separately.
        case .files: throw Denial(.badRequest)
        case .challenge(let audience, let challenge):
            return try await keys.signed(
                by: key, in: .challenge, account: account, snapshot: snapshot, for: .finger(touch)
            ) {
                (key) throws(CryptoFault) in
                try SignedMessage(
                    text: ChallengeStatement(
                        head: keys.head(key, for: audience), challenge: challenge,
                        claims: keys.claims(
                            key, factor: Factor.fingerprint, enrolment: snapshot.enrolment)
                    ).encoded())
            }
        case .request(_, let method, let resource, let body):
            let nonce = try accounts.reading(account) { () throws(SystemFault) in
                try randomBytes(32)
            }
            let lines = RequestLines(
                method: method, resource: resource, nonce: nonce, body: body)
            return try await keys.signed(
                by: key, in: .request, account: account, snapshot: snapshot, for: .finger(touch)
            ) {
                (key) throws(CryptoFault) in
                try SignedMessage(
                    text: RequestStatement(
                        head: keys.head(key, for: key.audience), request: lines,
                        claims: keys.claims(
                            key, factor: Factor.fingerprint, enrolment: snapshot.enrolment)
                    ).encoded())
            }
        }
    }
}
