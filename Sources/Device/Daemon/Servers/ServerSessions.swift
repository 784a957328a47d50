// SPDX-License-Identifier: Apache-2.0
import Authorization
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import SignedFormats
import State

/// Sessions at servers: where and when an account has logged in, and how it ends them.
///
/// Both need what reading operations needs: the daemon's own MAC token, for which a touch, or the
/// password, is asked only if it is missing. Ending a session releases nothing: its tokens stop
/// working, and a new login needs a touch.
@ServiceActor
final class ServerSessions {
    private let relay: RelayClient
    private let keys: ServerKeys
    private let reading: OperationApprovals

    /// `reading` gets the tokens, and says what a server's refusals mean.
    init(relay: RelayClient, keys: ServerKeys, reading: OperationApprovals) {
        self.relay = relay
        self.keys = keys
        self.reading = reading
    }
}

extension ServerSessions {
    var handlers: [RequestHandler] {
        [RequestHandler(listSessions), RequestHandler(endSessions)]
    }

    /// Sends the sessions of an account at one server or all, with their number at each, and the
    /// reasons why some servers could not be read.
    ///
    /// If the request names one server, its trouble is thrown instead of sent.
    func listSessions(
        _ request: SessionListRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let places = try await reading.keysToAsk(request.server, account: account)
        let asking = ReadingRequest(
            SessionListRequest.self, milliseconds: request.timeoutMilliseconds,
            factor: request.factor, purpose: "read sessions")
        let found = try await withTokens(
            at: places, asking: asking, account: account, client: client
        ) { (key, url) in
            await self.sessions(at: key, url: url, account: account)
        }
        for (key, list) in found.told {
            let server = key.server
            for content in list.sessions {
                await client.send(.of(SessionAnswer(server: server, content: content)))
            }
            await client.send(
                .of(SessionCountAnswer(server: server, count: list.total)))
        }
        for trouble in found.troubles {
            if request.server != nil { throw trouble.denial }
            await client.send(.serverTrouble(ServerTroubleAnswer(trouble)))
        }
        return .done(DoneAnswer())
    }

    /// Ends one session, or all that the account has at the server.
    ///
    /// Throws `unknownSession` or `sessionOver` if the server says so of the one.
    func endSessions(
        _ request: SessionEndRequest, account: Account, client: any Client
    ) async throws(Denial) -> Answer {
        let places = try await reading.keysToAsk(request.server, account: account)
        let asking = ReadingRequest(
            SessionEndRequest.self, milliseconds: request.timeoutMilliseconds,
            factor: request.factor, purpose: "end sessions")
        let found = try await withTokens(
            at: places, asking: asking, account: account, client: client
        ) { (key, url) in
            client.tell(asking: ServerURL(url))
            return await self.end(request.session, at: key, url: url, account: account)
        }
        if let trouble = found.troubles.first { throw trouble.denial }
        guard let (key, count) = found.told.first else { throw Denial(.badRequest) }
        await client.send(.of(SessionCountAnswer(server: key.server, count: count)))
        return .done(DoneAnswer())
    }

    /// Asks each server, and those for which a token is missing once more after one touch.
    ///
    /// A failed touch is thrown if it was needed for every server, or if it was cancelled.
    private func withTokens<Told: Sendable>(
        at places: [(ServerKey, CanonicalServerURL)], asking request: ReadingRequest,
        account: Account, client: any Client,
        _ ask: (ServerKey, CanonicalServerURL) async -> Reading<Told>
    ) async throws(Denial) -> (told: [(ServerKey, Told)], troubles: [ServerTrouble]) {
        var told: [(ServerKey, Told)] = []
        var troubles: [ServerTrouble] = []
        var rest = places
        for isFirst in [true, false] {
            var lacking: [UnreadServer] = []
            for (key, url) in rest {
                switch await ask(key, url) {
                case .told(let answer): told.append((key, answer))
                case .wantsToken(let orElse):
                    lacking.append(UnreadServer(key: key, url: url, orElse: orElse))
                case .denied(let denial): troubles.append(ServerTrouble(key: key, denial: denial))
                }
            }
            guard !lacking.isEmpty else { break }
            guard isFirst else {
                troubles += lacking.map { $0.trouble(afterTouch: true) }
                break
            }
            rest = lacking.map { ($0.key, $0.url) }
            let got = await reading.getReadingTokens(
                at: rest, asking: request, account: account, client: client)
            if let denial = got.denial,
                lacking.count == places.count || denial.reason == .cancelled
            {
                throw denial
            }
            troubles += got.troubles
            rest.removeAll { key, _ in got.troubles.contains { $0.key == key } }
        }
        return (told, troubles)
    }
}

/// The sessions that a server has listed, and how many there are.
private struct SessionsAtServer: Sendable {
    let sessions: [SessionContent]
    let total: UInt32
}

extension ServerSessions {
    /// The sessions at one server. A list that is incomplete, according to the number at its end, is
    /// an error.
    private func sessions(
        at key: ServerKey, url: CanonicalServerURL, account: Account
    ) async -> Reading<SessionsAtServer> {
        let header: Bytes
        do throws(Denial) {
            let made = try reading.readingHeader(
                key, path: "/v1/device/sessions", url: url, account: account)
            guard let made else { return .noToken(at: url) }
            header = made
        } catch { return .denied(error) }
        let request = RelayRequest.sessions(server: ServerURL(url), authorization: header)
        let (sessions, end) = await relay.listSessions(request, for: account.uid)
        if case .sessionsListed(let count, let total) = end, count == sessions.count,
            total >= count
        {
            return .told(SessionsAtServer(sessions: sessions, total: total))
        }
        if end.isRefused(as: "not-found") {
            return .denied(Denial(.sessionsUnknown, subject: url.bytes))
        }
        return reading.trouble(end, key: key, url: url, account: account)
    }

    /// Ends one session, or all; tells how many the server has ended.
    private func end(
        _ session: SessionID?, at key: ServerKey, url: CanonicalServerURL, account: Account
    ) async -> Reading<UInt32> {
        let part = session.map { "/\(String(decoding: $0.hexadecimal, as: UTF8.self))" } ?? ""
        let header: Bytes
        do throws(Denial) {
            let made = try reading.readingHeader(
                key, method: "POST", path: "/v1/device/sessions\(part)/revoke", url: url,
                body: RelayRequest.emptyBody, account: account)
            guard let made else { return .noToken(at: url) }
            header = made
        } catch { return .denied(error) }
        let server = ServerURL(url)
        let request: RelayRequest =
            if let session {
                .endSession(server: server, authorization: header, session: session)
            } else { .endSessions(server: server, authorization: header) }
        let answer = await relay.ask(request, for: account.uid)
        if case .sessionsEnded(let count) = answer, session == nil || count == 1 {
            return .told(count)
        }
        if answer.isRefused(as: "not-found") {
            return .denied(
                session.map { Denial(.unknownSession, subject: $0.hexadecimal) }
                    ?? Denial(.sessionsUnknown, subject: url.bytes))
        }
        if let session, answer.isRefused(as: "conflict") {
            return .denied(Denial(.sessionOver, subject: session.hexadecimal))
        }
        return reading.trouble(answer, key: key, url: url, account: account)
    }
}

extension RelayAnswer {
    /// Whether the server refused with this code.
    fileprivate func isRefused(as code: String) -> Bool {
        guard case .refused(let told, _, _) = self else { return false }
        return told == Bytes(code.utf8)
    }
}
