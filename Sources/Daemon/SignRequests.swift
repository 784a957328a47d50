// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Gate
import LoginProtocol
import Loop
import Policy
import Posix
import SignedFormats
import Store

/// Signatures for whoever is not this machine and no login: a touch each, which leaves a receipt.
extension Service {
    /// Signs a file, a challenge or an HTTP request, each in a namespace of its own.
    func sign(
        _ request: SignRequest, _ account: Account, _ client: any Client
    ) async throws(Denial) -> Answer {
        let key = try await signingKey(for: request.matter, account)
        let matter = try ownMatter(SigningPurpose.text(request.matter), account)
        let plan = plan(
            .sign, "signet sign", account, milliseconds: request.timeoutMilliseconds)
        return try await afterTouch(plan, matter, client) { (standing, touch) throws(Denial) in
            if case .files(let files) = request.matter {
                return try await self.sign(files, by: key, account, standing, for: touch, client)
            }
            return .signed(
                try await self.signature(request.matter, by: key, account, standing, for: touch))
        }
    }

    /// Signs several files: all, or the client gets none.
    private func sign(
        _ files: [FileDigest], by key: ServerKey, _ account: Account, _ standing: AccountSnapshot,
        for touch: Touch<ScannedFinger>, _ client: any Client
    ) async throws(Denial) -> Answer {
        var answers: [SignedFileAnswer] = []
        for file in files {
            let matter = SigningMatter.file(name: file.name, digest: file.digest)
            let signed = try await signature(matter, by: key, account, standing, for: touch)
            answers.append(SignedFileAnswer(digest: file.digest, signature: signed.signature))
        }
        for answer in answers { await client.send(.signedFile(answer)) }
        return .done(DoneAnswer())
    }

    /// The key that something is to be signed with, if a touch could open it.
    private func signingKey(
        for matter: SigningMatter, _ account: Account
    ) async throws(Denial) -> ServerKey {
        switch matter {
        case .file, .files, .challenge: return try await goodSigningKey(of: account)
        case .request(let server, let method, _, _):
            guard let url = ServerURL(server), RequestLines.isMethod(method) else {
                throw Denial(.badRequest)
            }
            return try await goodKey(for: url, account)
        }
    }

    private func signature(
        _ matter: SigningMatter, by key: ServerKey, _ account: Account, _ standing: AccountSnapshot,
        for touch: Touch<ScannedFinger>
    ) async throws(Denial) -> SignedAnswer {
        switch matter {
        case .file(_, let digest):
            return try await signed(by: key, in: .file, account, standing, for: touch) { _ in
                SignedMessage(digest: digest)
            }
        // Each is signed as a file of its own.
        case .files: throw Denial(.badRequest)
        case .challenge(let audience, let challenge):
            return try await signed(by: key, in: .challenge, account, standing, for: touch) {
                (key) throws(CryptoFault) in
                try SignedMessage(
                    text: ChallengeStatement(
                        head: head(key, for: audience), challenge: challenge,
                        claims: claims(key, Factor.fingerprint, standing.enrolment)
                    ).encoded())
            }
        case .request(_, let method, let resource, let body):
            let nonce = try reading(account) { () throws(SystemFault) in try randomBytes(32) }
            let lines = RequestLines(
                method: method, resource: resource, nonce: nonce, body: body)
            return try await signed(by: key, in: .request, account, standing, for: touch) {
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
    /// What is fixed in its form stands before what the caller chose, so that no name hides it, and
    /// nothing is lost but the end of a long name.
    static func text(_ matter: SigningMatter) -> Bytes {
        Bytes(whole(matter).prefix(Limit.purpose))
    }

    private static func whole(_ matter: SigningMatter) -> Bytes {
        switch matter {
        case .file(let name, let digest):
            Bytes("sign file sha256:".utf8) + Hexadecimal.encode(digest)
                + (name.isEmpty ? [] : [0x20] + name)
        case .files(let files):
            Bytes("sign \(files.count) files".utf8)
                + files.flatMap { Bytes(" sha256:".utf8) + Hexadecimal.encode($0.digest) }
                + files.flatMap { [0x20] + ($0.name.isEmpty ? Bytes("-".utf8) : $0.name) }
        case .challenge(let audience, let challenge):
            Bytes("sign challenge for ".utf8) + audience + Bytes(": ".utf8) + challenge
        case .request(let server, let method, let resource, _):
            Bytes("server ".utf8) + server + Bytes(": sign ".utf8) + method + [0x20] + resource
        }
    }
}
