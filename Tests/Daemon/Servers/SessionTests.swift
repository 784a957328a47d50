// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("Sessions at a server")
    struct SessionTests {
        private func fixture() async throws -> ServerFixture {
            let fixture = try ServerFixture(try await LiveServer.start(severalDevices: true))
            let name = try #require(DeviceName(Bytes("desk".utf8)))
            let code = try fixture.server.code()
            let enabled = try fixture.daemon.touchEach(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: fixture.url,
                        code: Bytes(code.utf8), deviceName: name)), with: "one")
            #expect(enabled.enabled != nil, "\(enabled)")
            return fixture
        }

        private func listing(only server: ServerURL? = nil) -> Request {
            .sessionList(
                SessionListRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000, server: server))
        }

        private func ending(_ session: SessionID?, at fixture: ServerFixture) -> Request {
            .sessionEnd(
                SessionEndRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000,
                    server: fixture.url, session: session))
        }

        /// The sessions, with touches where they are wanted, and how many that were.
        private func sessions(
            _ fixture: ServerFixture
        ) throws -> (sessions: [SessionContent], touches: Int) {
            let answers = try fixture.touching(listing())
            let touches = answers.filter { $0.notice?.kind == .touch }.count
            let sessions = answers.compactMap(\.session)
            #expect(answers.compactMap(\.sessionCount) == [UInt32(sessions.count)])
            #expect(answers.last?.done != nil)
            return (sessions, touches)
        }

        /// Whether the server gives new tokens for a refresh token.
        private func refreshes(_ fixture: ServerFixture, _ token: TokenAnswer) throws -> Bool {
            let body = ["refreshToken": String(decoding: token.refreshToken, as: UTF8.self)]
            return try fixture.server.call(
                "POST", "/v1/token/refresh", body, authorization: nil
            ).status == 200
        }

        @Test("are listed after one touch, and then without: by device, address and factor")
        func listed() async throws {
            let fixture = try await fixture()
            #expect(try sessions(fixture) == ([], 1))
            #expect(try fixture.logIn().token != nil)
            let (found, touches) = try sessions(fixture)
            #expect(found.count == 1 && touches == 0)
            let session = try #require(found.first)
            #expect(session.isOwn && session.factor == .fingerprint && session.refreshed == nil)
            #expect(session.deviceName == DeviceName(Bytes("desk".utf8)))
            #expect(session.address == Bytes("127.0.0.1".utf8))
            #expect(session.created > 0 && session.expires > session.created)
            // The same token as for operations.
            #expect(try fixture.asking(fixture.listing(mayTouch: false)).last?.done != nil)
        }

        @Test("are ended without a further touch: the tokens are refused, a new login is not")
        func ended() async throws {
            let fixture = try await fixture()
            _ = try sessions(fixture)
            let first = try #require(try fixture.logIn().token)
            let id = try #require(try sessions(fixture).sessions.first?.session)
            let second = try #require(try fixture.logIn().token)
            let answers = try fixture.asking(ending(id, at: fixture))
            #expect(answers.compactMap(\.sessionCount) == [1], "\(answers)")
            #expect(try !refreshes(fixture, first) && refreshes(fixture, second))
            #expect(try sessions(fixture).sessions.map(\.refreshed).contains(nil) == false)
            // Ended twice, and never there.
            let again = try fixture.asking(ending(id, at: fixture)).last
            #expect(again?.reason == .sessionOver && again?.denial?.subject == id.hexadecimal)
            let unknown = try fixture.asking(ending(.sample(repeating: 9), at: fixture)).last
            #expect(unknown?.reason == .unknownSession)
            #expect(try fixture.logIn().token != nil)
            let all = try fixture.asking(ending(nil, at: fixture))
            #expect(all.compactMap(\.sessionCount) == [2])
            #expect(try sessions(fixture).sessions.isEmpty)
            #expect(try fixture.asking(ending(nil, at: fixture)).compactMap(\.sessionCount) == [0])
        }

        @Test("of another account are neither shown nor ended, and no other user may ask")
        func foreign() async throws {
            let fixture = try await fixture()
            let code = try fixture.server.code(for: "bob")
            try fixture.daemon.enrol(.bin, as: "two")
            #expect(try fixture.enable(.bin, with: "two", code: code).enabled != nil)
            let token = try #require(try fixture.logIn(.bin, with: "two").token)
            #expect(try sessions(fixture).sessions.isEmpty)
            let listed = try fixture.touching(
                .sessionList(
                    SessionListRequest(
                        account: Person.bin.account, timeoutMilliseconds: 20_000)), .bin,
                with: "two")
            let id = try #require(listed.compactMap(\.session).first?.session)
            #expect(try fixture.asking(ending(id, at: fixture)).last?.reason == .unknownSession)
            #expect(try fixture.asking(ending(nil, at: fixture)).compactMap(\.sessionCount) == [0])
            #expect(try refreshes(fixture, token))
            for person in [Person.bin, .root] {
                for request in [listing(), ending(id, at: fixture), ending(nil, at: fixture)] {
                    let denied = try fixture.asking(request, person).last
                    #expect(denied?.reason == .notPermitted, "\(person)")
                }
            }
        }

        @Test("cannot be read or ended once the registration is blocked or removed")
        func refused() async throws {
            let fixture = try await fixture()
            _ = try sessions(fixture)
            let registration = try #require(
                try fixture.server.registrations().first?["registration"] as? String)
            let path = "/v1/registrations/\(registration)"
            try fixture.server.ask("POST", "\(path)/block", [:])
            let requests = [listing(only: fixture.url), ending(nil, at: fixture)]
            for request in requests {
                #expect(try fixture.asking(request).last?.reason == .serverKeyBlocked)
            }
            try fixture.server.ask("POST", "\(path)/unblock", [:])
            #expect(try sessions(fixture) == ([], 0))
            try fixture.server.ask("POST", "\(path)/remove", [:])
            #expect(try fixture.asking(requests[1]).last?.reason == .serverKeyRemoved)
            #expect(try fixture.asking(requests[0]).last?.reason == .unknownServer)
        }

        @Test("are said to be out of reach where the server is")
        func away() async throws {
            let fixture = try await fixture()
            _ = try sessions(fixture)
            try fixture.stopRelay()
            let listed = try fixture.asking(listing())
            #expect(listed.compactMap(\.trouble).map(\.reason) == [.serverUnreachable])
            #expect(listed.last?.done != nil)
            let named = try fixture.asking(listing(only: fixture.url)).last
            #expect(named?.reason == .serverUnreachable)
            #expect(try fixture.asking(ending(nil, at: fixture)).last?.reason == .serverUnreachable)
            try fixture.startRelay()
            #expect(try sessions(fixture) == ([], 0))
        }

        @Test("are read with a new token where the server has revoked the old one")
        func revoked() async throws {
            let fixture = try await fixture()
            _ = try sessions(fixture)
            let registration = try #require(
                try fixture.server.registrations().first?["registration"] as? String)
            let tokens = try fixture.server.ask(
                "GET", "/v1/registrations/\(registration)/mac-tokens")
            let list = try #require(tokens["tokens"] as? [[String: Any]])
            let id = try #require(list.first?["token"] as? String)
            try fixture.server.ask("POST", "/v1/mac-tokens/\(id)/revoke", [:])
            #expect(try sessions(fixture) == ([], 1))
        }

        @Test("are ended by nothing if the finger is another's")
        func wrongFinger() async throws {
            let fixture = try await fixture()
            let token = try #require(try fixture.logIn().token)
            let answers = try fixture.touching(ending(nil, at: fixture), with: "two")
            #expect(answers.last?.reason == .noMatch)
            #expect(try refreshes(fixture, token))
        }
    }
}

extension Answer {
    var session: SessionContent? {
        (own() as SessionAnswer?)?.content
    }
    var sessionCount: UInt32? {
        (own() as SessionCountAnswer?)?.count
    }
}
