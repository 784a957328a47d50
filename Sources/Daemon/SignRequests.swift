import Crypto
import Loop
import Policy
import Posix
import Statement
import Store
import Wire

/// Signatures for whoever is not this machine and no login: a touch each, which leaves a receipt.
extension Service {
    /// Signs a file, a challenge or an HTTP request, each in a namespace of its own.
    func sign(
        _ request: SignRequest, _ account: Account, _ client: any Client
    ) async -> Answer {
        let key: ServerKey
        switch await signingKey(for: request.matter, account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let found): key = found
        }
        let matter: SignedMatter
        switch ownMatter(SigningPurpose.text(request.matter), account) {
        case .deny(let denial): return .denial(denial)
        case .allow(let made): matter = made
        }
        let asker = Asker("signet sign (\(account.name))")
        let milliseconds = request.timeoutMilliseconds
        return await afterTouch(matter, asker, account, milliseconds: milliseconds, client) {
            standing in
            switch await self.signature(request.matter, by: key, account, standing) {
            case .deny(let denial): return .denial(denial)
            case .allow(let signed): return .signed(signed)
            }
        }
    }

    /// The key that something is to be signed with, if a touch could open it.
    private func signingKey(
        for matter: SigningMatter, _ account: Account
    ) async -> Ruling<ServerKey> {
        switch matter {
        case .file, .challenge: return await goodSigningKey(of: account)
        case .request(let server, let method, _, _):
            guard let url = ServerURL(server), RequestLines.isMethod(method) else {
                return .deny(Denial(.badRequest))
            }
            return await goodKey(for: url, account)
        }
    }

    private func signature(
        _ matter: SigningMatter, by key: ServerKey, _ account: Account, _ standing: Standing
    ) async -> Ruling<SignedAnswer> {
        switch matter {
        case .file(_, let digest):
            return await signed(by: key, in: .file, account, standing) { _ in
                SignedMessage(digest: digest)
            }
        case .challenge(let audience, let challenge):
            return await signed(by: key, in: .challenge, account, standing) {
                (key) throws(CryptoFault) in
                try SignedMessage(
                    text: ChallengeStatement(
                        head: head(key, for: audience), challenge: challenge,
                        claims: claims(key, Factor.fingerprint, standing.enrolment)
                    ).encoded())
            }
        case .request(_, let method, let resource, let body):
            let nonce: Bytes
            do throws(SystemFault) { nonce = try randomBytes(32) } catch {
                return .deny(denial(for: .file(.system(error)), account))
            }
            let lines = RequestLines(
                method: method, resource: resource, nonce: nonce, body: body)
            return await signed(by: key, in: .request, account, standing) {
                (key) throws(CryptoFault) in
                try SignedMessage(
                    text: RequestStatement(
                        head: head(key, for: key.audience), request: lines,
                        claims: claims(key, Factor.fingerprint, standing.enrolment)
                    ).encoded())
            }
        }
    }
}

/// What a receipt and the journal say that was signed; whoever writes it down escapes it.
enum SigningPurpose {
    /// What is fixed in its form stands before what the caller chose, so that no name hides it.
    static func text(_ matter: SigningMatter) -> Bytes {
        switch matter {
        case .file(let name, let digest):
            Bytes("sign file sha256:".utf8) + Hexadecimal.encode(digest)
                + (name.isEmpty ? [] : [0x20] + name)
        case .challenge(let audience, let challenge):
            Bytes("sign challenge for ".utf8) + audience + Bytes(": ".utf8) + challenge
        case .request(let server, let method, let resource, _):
            Bytes("server ".utf8) + server + Bytes(": sign ".utf8) + method + [0x20] + resource
        }
    }
}
