// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Crypto
import Domain
import Gate
import LoginProtocol
import Posix
import Sealing
import SignedFormats
import State

/// The result of a request to read from a server.
enum Reading<Told: Sendable>: Sendable {
    case told(Told)
    /// There is no reading token, or the server does not accept it; the denial is for a token that
    /// was issued a moment ago, which another touch would not help.
    case wantsToken(orElse: Denial)
    case denied(Denial)
}

/// How the user is asked for a reading token.
struct ReadingRequest: Sendable {
    let type: any DaemonRequest.Type
    /// How long to wait for a touch.
    let milliseconds: UInt32
    let factor: ConfirmingFactor
    /// What the token is for, as receipts show it.
    let purpose: String

    init(
        _ type: any DaemonRequest.Type, milliseconds: UInt32, factor: ConfirmingFactor,
        purpose: String = "read operations"
    ) {
        self.purpose = purpose
        self.type = type
        self.milliseconds = milliseconds
        self.factor = factor
    }
}

// Operations are read with a MAC token of the daemon's own. The server issues it after a touch, and
// it expires, by default after 30 days.
extension OperationApprovals {
    /// The operations that await an account at a server, or why they cannot be read.
    ///
    /// A list that is incomplete, according to the number at its end, is an error.
    func awaited(
        at key: ServerKey, url: CanonicalServerURL, account: Account
    ) async -> Reading<[OperationContent]> {
        let header: Bytes
        do throws(Denial) {
            let made = try readingHeader(
                key, path: "/v1/device/operations", url: url, account: account)
            guard let made else { return .noToken(at: url) }
            header = made
        } catch { return .denied(error) }
        let request = RelayRequest.operations(server: ServerURL(url), authorization: header)
        let (operations, end) = await relay.list(request, for: account.uid)
        if case .listed(let count) = end, count == operations.count { return .told(operations) }
        return trouble(end, key: key, url: url, account: account)
    }

    /// Reads one operation from a server.
    ///
    /// An answer about another operation, audience, account or application is denied with
    /// `serverRefused`.
    func operation(
        _ identifier: OperationID, at key: ServerKey, url: CanonicalServerURL, account: Account
    ) async -> Reading<RelayOperation> {
        let digits = String(decoding: identifier.hexadecimal, as: UTF8.self)
        let path = "/v1/device/operations/\(digits)"
        let header: Bytes
        do throws(Denial) {
            guard let made = try readingHeader(key, path: path, url: url, account: account) else {
                return .noToken(at: url)
            }
            header = made
        } catch { return .denied(error) }
        let request = RelayRequest.operation(
            server: ServerURL(url), authorization: header, operation: identifier)
        let answer = await relay.ask(request, for: account.uid)
        guard case .operation(let told) = answer else {
            return trouble(answer, key: key, url: url, account: account)
        }
        guard told.content.operation == identifier, told.audience == key.audience,
            told.account == key.account, told.application == key.application
        else { return .denied(Denial(.serverRefused, subject: Bytes("another operation".utf8))) }
        return .told(told)
    }

    /// Obtains reading tokens for several servers with one touch, or with the password given once.
    ///
    /// Every server is asked for a challenge first; if none gives one, the user is asked for
    /// nothing.
    ///
    /// - Returns: the servers that gave no token, with the reasons; and the denial of the touch if
    ///   that failed.
    func getReadingTokens(
        at keys: [(ServerKey, CanonicalServerURL)], asking request: ReadingRequest,
        account: Account, client: any Client
    ) async -> (troubles: [ServerTrouble], denial: Denial?) {
        var troubles: [ServerTrouble] = []
        var challenges: [(key: ServerKey, url: CanonicalServerURL, challenge: ServerChallenge)] = []
        for (key, url) in keys {
            do throws(Denial) {
                try key.check(request.factor)
                let given = try await readingChallenge(
                    for: key, by: request.factor, url: url, account: account)
                challenges.append((key, url, given))
            } catch { troubles.append(ServerTrouble(key: key, denial: error)) }
        }
        // Without a challenge, a touch would be useless.
        guard let first = challenges.first else { return (troubles, nil) }
        let servers = challenges.map(\.url.text).joined(separator: ", ")
        let matter = SignedMatter(
            purpose: Bytes("server \(servers): \(request.purpose)".utf8),
            challenge: first.challenge.challenge)
        let plan = guards.plan(
            for: request.type, account: account, milliseconds: request.milliseconds)
        do throws(Denial) {
            _ = try await confirmations.confirmed(
                plan, by: request.factor, matter: matter, client: client
            ) { (snapshot, confirmation) throws(Denial) in
                for (key, url, challenge) in challenges {
                    do throws(Denial) {
                        _ = try await self.issueReadingToken(
                            challenge, key: key, url: url, account: account, snapshot: snapshot,
                            confirmation: confirmation, client: client)
                    } catch { troubles.append(ServerTrouble(key: key, denial: error)) }
                }
                return .done(DoneAnswer())
            }
            return (troubles, nil)
        } catch {
            troubles += challenges.map { ServerTrouble(key: $0.key, denial: error) }
            return (troubles, error)
        }
    }

    /// A server's challenge, with a time since boot that is not later than its issue.
    private struct ServerChallenge {
        let challenge: Challenge
        let moment: Duration
    }

    private func readingChallenge(
        for key: ServerKey, by factor: ConfirmingFactor, url: CanonicalServerURL,
        account: Account
    ) async throws(Denial) -> ServerChallenge {
        let moment = clock.sinceBoot()
        let challenge = try await keys.challenge(
            for: key, by: factor, action: LoginAction.macToken, url: url, account: account)
        return ServerChallenge(challenge: challenge, moment: moment)
    }

    /// Obtains one reading token.
    ///
    /// If the challenge has become too old meanwhile, a new one is used.
    private func issueReadingToken(
        _ given: ServerChallenge, key: ServerKey, url: CanonicalServerURL, account: Account,
        snapshot: AccountSnapshot, confirmation: Confirmation, client: any Client
    ) async throws(Denial) -> StoredMACToken {
        var given = given
        if clock.sinceBoot() - given.moment > ServerLogins.challengeAge {
            given = try await readingChallenge(
                for: key, by: confirmation.confirmingFactor, url: url, account: account)
        }
        return try await macTokens.issueMACToken(
            MACTokenName.operations, challenge: given.challenge, by: key, url: url,
            account: account,
            snapshot: snapshot, confirmation: confirmation, client: client)
    }

    /// The `Authorization` header for a request, by default a GET without a body; nil if there is
    /// no good reading token.
    func readingHeader(
        _ key: ServerKey, method: String = "GET", path: String, url: CanonicalServerURL,
        body: Bytes = [], account: Account
    ) throws(Denial) -> Bytes? {
        let digest = try accounts.reading(account) { () throws(StoreFault) in
            do throws(CryptoFault) { return try SHA256.digest(body) } catch {
                throw .vault(.crypto(error))
            }
        }
        return try macTokens.header(
            by: MACTokenName.operations, of: key, method: Bytes(method.utf8),
            resource: Bytes((url.path + path).utf8), bodyDigest: digest, account: account)
    }

    /// Translates an answer that is not the requested data.
    ///
    /// If the server no longer accepts the reading token, the token is deleted and `wantsToken`
    /// returned.
    func trouble<Told>(
        _ answer: RelayAnswer, key: ServerKey, url: CanonicalServerURL, account: Account
    ) -> Reading<Told> {
        guard case .refused(let code, _, _) = answer else {
            return .denied(keys.denial(of: answer, url: url, account: account, signedBy: key))
        }
        switch String(decoding: code, as: UTF8.self) {
        // The token was revoked at the server, or the server does not know it.
        case "refused", "token-refused":
            do throws(Denial) {
                try accounts.reading(account) { () throws(StoreFault) in
                    let tokens = try accounts.kept(account)?.macTokens
                    for token in try tokens?.list() ?? []
                    where token.credential == key.identifier
                        && token.name == MACTokenName.operations
                    {
                        try tokens?.remove(token)
                    }
                }
                let unmet = Denial(
                    .serverRefused, subject: Bytes(ServerProblem.freshProof.rawValue.utf8))
                return .wantsToken(orElse: unmet)
            } catch { return .denied(error) }
        // The server does not accept the boot state that was reported when the token was issued. A
        // new touch reports the present one.
        case "policy":
            return .wantsToken(
                orElse: keys.denial(of: answer, url: url, account: account, signedBy: key))
        case "not-found": return .denied(Denial(.unknownOperation, subject: url.bytes))
        default: return .denied(keys.denial(of: answer, url: url, account: account, signedBy: key))
        }
    }
}

extension Reading {
    /// There is no reading token.
    static func noToken(at url: CanonicalServerURL) -> Self {
        .wantsToken(orElse: Denial(.readingTokenWanted, subject: url.bytes))
    }
}

/// A server that could not be read with the tokens there are.
struct UnreadServer {
    let key: ServerKey
    let url: CanonicalServerURL
    /// The denial if its token is new.
    let orElse: Denial

    /// The trouble that remains: a touch would help, unless one has just been made.
    func trouble(afterTouch: Bool) -> ServerTrouble {
        ServerTrouble(
            key: key,
            denial: afterTouch ? orElse : Denial(.readingTokenWanted, subject: url.bytes))
    }
}

/// A server that could not be read, and why.
struct ServerTrouble {
    let key: ServerKey
    let denial: Denial
}
