import Crypto
import Loop
import Policy
import Posix
import Statement
import Store
import Vault
import Wire

/// What reading at a server came to.
enum Reading<Told: Sendable>: Sendable {
    case told(Told)
    /// There is no token to read with, or none that the server takes.
    case wantsToken
    case denied(Denial)
}

// How operations are read: with a MAC token of the daemon's own, which a touch gets for 30 days.
extension Service {
    /// What awaits an account at a server.
    func awaited(
        at key: ServerKey, _ url: ServerURL, _ account: Account
    ) async -> Reading<[OperationContent]> {
        let header: Bytes
        switch readingHeader(key, "/v1/device/operations", url, account) {
        case .deny(let denial): return .denied(denial)
        case .allow(nil): return .wantsToken
        case .allow(let made?): header = made
        }
        let request = RelayRequest.operations(server: url.bytes, authorization: header)
        let (operations, end) = await relay.list(request, for: account.uid)
        if case .listed(let count) = end, count == operations.count { return .told(operations) }
        return trouble(end, key, url, account)
    }

    /// One operation of a server's, of just this account, application and id.
    func operation(
        _ identifier: Bytes, at key: ServerKey, _ url: ServerURL, _ account: Account
    ) async -> Reading<RelayOperation> {
        let digits = String(decoding: Hexadecimal.encode(identifier), as: UTF8.self)
        let path = "/v1/device/operations/\(digits)"
        let header: Bytes
        switch readingHeader(key, path, url, account) {
        case .deny(let denial): return .denied(denial)
        case .allow(nil): return .wantsToken
        case .allow(let made?): header = made
        }
        let request = RelayRequest.operation(
            server: url.bytes, authorization: header, operation: identifier)
        let answer = await relay.ask(request, for: account.uid)
        guard case .operation(let told) = answer else {
            return trouble(answer, key, url, account)
        }
        guard told.content.operation == identifier, told.audience == key.audience,
            told.account == key.account, told.application == key.application
        else { return .denied(Denial(.serverRefused, subject: Bytes("another operation".utf8))) }
        return .told(told)
    }

    /// One touch that gets tokens to read with at all these servers; the reasons of those that gave
    /// none, which is that of the touch itself where it came to nothing.
    func getReadingTokens(
        at keys: [(ServerKey, ServerURL)], milliseconds: UInt32, _ account: Account,
        _ client: any Client
    ) async -> (troubles: [ServerTrouble], denial: Denial?) {
        var troubles: [ServerTrouble] = []
        var challenges: [(key: ServerKey, url: ServerURL, challenge: GivenChallenge)] = []
        for (key, url) in keys {
            switch await readingChallenge(for: key, url, account) {
            case .deny(let denial): troubles.append(ServerTrouble(key: key, denial: denial))
            case .allow(let given): challenges.append((key, url, given))
            }
        }
        // Nobody has to touch for nothing.
        guard let first = challenges.first else { return (troubles, nil) }
        let servers = challenges.map(\.url.text).joined(separator: ", ")
        let matter = SignedMatter(
            purpose: Bytes("server \(servers): read operations".utf8),
            challenge: first.challenge.bytes)
        let asker = Asker("signet operations (\(account.name))")
        let answer = await afterTouch(
            matter, asker, account, milliseconds: milliseconds, client
        ) { standing in
            for (key, url, challenge) in challenges {
                let issued = await self.issueReadingToken(
                    challenge, key, url, account, standing, client)
                if case .deny(let denial) = issued {
                    troubles.append(ServerTrouble(key: key, denial: denial))
                }
            }
            return .done(DoneAnswer())
        }
        guard case .denial(let denial) = answer else { return (troubles, nil) }
        troubles += challenges.map { ServerTrouble(key: $0.key, denial: denial) }
        return (troubles, denial)
    }

    /// A server's challenge, with the moment before which it was not given.
    private struct GivenChallenge {
        let bytes: Bytes
        let moment: Duration
    }

    private func readingChallenge(
        for key: ServerKey, _ url: ServerURL, _ account: Account
    ) async -> Ruling<GivenChallenge> {
        let moment = clock.sinceBoot()
        return await challenge(for: key, LoginAction.macToken, url, account).map { bytes in
            GivenChallenge(bytes: bytes, moment: moment)
        }
    }

    /// A token to read with; for another challenge where the touch, or the servers before, took longer
    /// than this one holds.
    private func issueReadingToken(
        _ given: GivenChallenge, _ key: ServerKey, _ url: ServerURL, _ account: Account,
        _ standing: Standing, _ client: any Client
    ) async -> Ruling<MACToken> {
        var given = given
        if clock.sinceBoot() - given.moment > Self.challengeAge {
            switch await readingChallenge(for: key, url, account) {
            case .deny(let denial): return .deny(denial)
            case .allow(let fresh): given = fresh
            }
        }
        return await issueMACToken(
            Self.readingTokenName, given.bytes, by: key, url, account, standing, client)
    }

    private func readingHeader(
        _ key: ServerKey, _ path: String, _ url: ServerURL, _ account: Account
    ) -> Ruling<Bytes?> {
        reading(account) { () throws(StoreFault) in
            let nothing: Bytes
            do throws(CryptoFault) { nothing = try SHA256.digest([]) } catch {
                throw .vault(.crypto(error))
            }
            return header(
                by: Self.readingTokenName, of: key, Bytes("GET".utf8),
                Bytes((url.path + path).utf8), nothing, account)
        }
    }

    /// Why a server told nothing; what it does not take any more is not shown to it again.
    private func trouble<Told>(
        _ answer: RelayAnswer, _ key: ServerKey, _ url: ServerURL, _ account: Account
    ) -> Reading<Told> {
        guard case .refused(let code, _, _) = answer else {
            return .denied(denial(of: answer, url, account, signedBy: key))
        }
        switch String(decoding: code, as: UTF8.self) {
        // A token that was revoked or forgotten there.
        case "refused", "token-refused":
            return reading(account) { () throws(StoreFault) -> Ruling<Void> in
                let tokens = try kept(account)?.macTokens
                for token in try tokens?.list() ?? []
                where token.credential == key.identifier && token.name == Self.readingTokenName {
                    try tokens?.remove(token)
                }
                return .allow(())
            }.reading()
        // By how this machine was started when it was got: a touch tells how that is now.
        case "policy": return .wantsToken
        case "not-found": return .denied(Denial(.unknownOperation, subject: url.bytes))
        default: return .denied(denial(of: answer, url, account, signedBy: key))
        }
    }
}

/// Why one server of several has told nothing.
struct ServerTrouble {
    let key: ServerKey
    let denial: Denial
}

extension ServerURL {
    /// What stands before each path of the server's; empty for most.
    var path: String {
        String(text.dropFirst("https://".count).drop { $0 != "/" })
    }
}

extension Ruling<Void> {
    /// Where a token was forgotten, another one is wanted.
    fileprivate func reading<Told>() -> Reading<Told> {
        switch self {
        case .deny(let denial): .denied(denial)
        case .allow: .wantsToken
        }
    }
}
