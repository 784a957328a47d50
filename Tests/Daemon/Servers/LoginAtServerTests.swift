// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A login that a server has to approve")
    struct LoginAtServerTests {
        /// A server where the account has the name that it has here.
        private func makeFixture() async throws -> ServerFixture {
            let fixture = try ServerFixture(try await LiveServer.start())
            try #require(
                try fixture.enable(code: fixture.server.code(for: "daemon")).enabled != nil)
            return fixture
        }

        /// What the module would ask for.
        private func request(
            _ fixture: ServerFixture, offlineHours: UInt32 = 0, token: TokenDelivery? = nil,
            audience: String? = nil, challenge: UInt8 = 7
        ) -> AuthenticateRequest {
            AuthenticateRequest(
                account: Person.daemon.account,
                challenge: .sample(repeating: challenge), service: "login",
                terminal: Bytes("/dev/tty1".utf8), purpose: Bytes("a secret word".utf8),
                timeoutMilliseconds: 20_000, maximumTries: 2, background: .allow,
                server: ServerLoginRequest(
                    url: fixture.url,
                    audience: Audience(audience ?? "\(fixture.server.url)/shop"),
                    key: fixture.verdictKey, offlineHours: offlineHours, token: token))
        }

        private func logIn(
            _ fixture: ServerFixture, _ request: AuthenticateRequest, with finger: String = "one",
            as person: Person = .root
        ) throws -> Answer {
            try fixture.daemon.touchEach(
                .authenticate(request), with: finger, client: fixture.daemon.client(person))
        }

        private func verdict(of answer: Answer) throws -> Verdict {
            let proof = try #require(answer.assertion?.server, "\(answer)")
            return try Verdict(parsing: proof.verdict)
        }

        private func kept(_ fixture: ServerFixture) -> [String] {
            fixture.files().filter { $0.hasSuffix(".verdict") }
        }

        @Test("has its verdict, for this challenge, and says in the receipt that it was asked")
        func online() async throws {
            let fixture = try await makeFixture()
            let client = try fixture.daemon.client(.root)
            let answer = try fixture.daemon.touchEach(
                .authenticate(request(fixture, challenge: 9)), with: "one", client: client)
            // What commands are told, a module of before would not understand.
            #expect(!client.heard.contains { $0.notice?.kind == .askingServer })
            let verdict = try verdict(of: answer)
            #expect(verdict.module == .sample(repeating: 9))
            #expect(verdict.local == Person.daemon.account && verdict.decision == .allow)
            #expect(verdict.audience == Audience("\(fixture.server.url)/shop"))
            let assertion = try #require(answer.assertion)
            let statement = try Statement(parsing: assertion.statement)
            let expected = ServerLines(
                url: fixture.url, account: ServerAccountName(Person.daemon.account.bytes),
                mode: .online)
            #expect(statement.server == expected && statement.device == verdict.device)
            #expect(assertion.server?.accessToken == nil)
            let signature = try SSHSignature(blob: try #require(assertion.server).signature)
            #expect(signature.namespace == SignatureNamespace.verdict.bytes)
            try checkSignature(signature, of: verdict.encoded())
            let log = try fixture.daemon.receipts(of: .daemon)
            try log.verify()
            let text = String(decoding: try #require(log.receipts.last), as: UTF8.self)
            #expect(text.contains("server-mode: online\n"))
            #expect(kept(fixture).count == 1)
        }

        private func checkSignature(_ signature: SSHSignature, of text: Bytes) throws {
            let data = SSHSignature.signedData(
                namespace: signature.namespace, messageDigest: try SHA256.digest(text))
            let numbers = try #require(P256Signature(r: signature.r, s: signature.s))
            let key = try P256PublicKey(point: signature.publicKey.point.bytes)
            #expect(try key.verifies(numbers, message: data))
        }

        @Test("a plain login asks no server, and says of none")
        func plain() async throws {
            let fixture = try await makeFixture()
            var plain = request(fixture)
            plain.server = nil
            try fixture.stopRelay()
            let answer = try logIn(fixture, plain)
            let assertion = try #require(answer.assertion)
            #expect(assertion.server == nil)
            #expect(try Statement(parsing: assertion.statement).server == nil)
        }

        @Test("is refused without a touch where the account is not registered for that audience")
        func unknown() async throws {
            let fixture = try await makeFixture()
            let client = try fixture.daemon.client()
            let other = request(fixture, audience: "\(fixture.server.url)/other")
            #expect(try client.ask(.authenticate(other)).reason == .unknownServer)
            var elsewhere = request(fixture)
            elsewhere.server?.url = "https://127.0.0.1:1"
            #expect(try client.ask(.authenticate(elsewhere)).reason == .unknownServer)
            elsewhere.server?.url = "http://127.0.0.1"
            #expect(try client.ask(.authenticate(elsewhere)).reason == .badRequest)
            try fixture.daemon.enrol(.bin, as: "two")
            var others = request(fixture)
            others.account = Person.bin.account
            #expect(try client.ask(.authenticate(others)).reason == .unknownServer)
            #expect(client.heard.allSatisfy { $0.notice == nil })
        }

        @Test("is refused without its server, unless an earlier yes is young enough")
        func offline() async throws {
            let fixture = try await makeFixture()
            try fixture.cutNetwork()
            let client = try fixture.daemon.client()
            #expect(try client.ask(.authenticate(request(fixture))).reason == .serverUnreachable)
            let never = try client.ask(.authenticate(request(fixture, offlineHours: 720)))
            #expect(never.reason == .serverTooLongAgo && never.denial?.since == nil)
            #expect(client.heard.allSatisfy { $0.notice == nil })
            try fixture.joinNetwork()
            let first = try verdict(of: try logIn(fixture, request(fixture, challenge: 1)))
            try fixture.cutNetwork()
            #expect(try client.ask(.authenticate(request(fixture))).reason == .serverUnreachable)
            let second = try logIn(fixture, request(fixture, offlineHours: 1, challenge: 2))
            #expect(try verdict(of: second) == first)
            let statement = try Statement(parsing: try #require(second.assertion).statement)
            #expect(statement.server?.mode == .offline)
            #expect(statement.challenge == .sample(repeating: 2))
            #expect(second.assertion?.server?.accessToken == nil)
            // No match, no yes.
            let stranger = try logIn(fixture, request(fixture, offlineHours: 1), with: "x")
            #expect(stranger.reason == .noMatch)
            try fixture.daemon.receipts(of: .daemon).verify()
            // Online again, and it is young again.
            try fixture.joinNetwork()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            try fixture.cutNetwork()
            #expect(try logIn(fixture, request(fixture, offlineHours: 1)).assertion != nil)
        }

        @Test("an earlier approval that is forgotten while the finger is awaited is not used")
        func forgotten() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            try fixture.cutNetwork()
            let client = try fixture.daemon.client()
            try client.send(.authenticate(request(fixture, offlineHours: 1)))
            try client.wait(for: .touch)
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .disabled)
            try fixture.daemon.text.send(.scan("one"))
            #expect(try client.last().reason == .unknownServer)
        }

        @Test("a kept verdict that is damaged is ignored")
        func damaged() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            try fixture.cutNetwork()
            let path = fixture.daemon.file(
                "servers/\(try #require(kept(fixture).first))", of: .daemon)
            try DaemonFixture.write(Bytes(try Layout.read(path).dropLast(3)), to: path)
            let client = try fixture.daemon.client()
            let answer = try client.ask(.authenticate(request(fixture, offlineHours: 1)))
            #expect(answer.reason == .serverTooLongAgo)
        }

        @Test("a server that fails after the touch is reported, and there is no approval")
        func lost() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            let client = try fixture.daemon.client()
            try client.send(.authenticate(request(fixture, offlineHours: 1)))
            try client.wait(for: .touch)
            try fixture.cutNetwork()
            try fixture.daemon.text.send(.scan("one"))
            #expect(try client.last().reason == .serverLost)
            // The next one is offline from its beginning.
            #expect(try logIn(fixture, request(fixture, offlineHours: 1)).assertion != nil)
        }

        @Test("a server's no forgets its earlier yes, so that no cut of the network brings it back")
        func blocked() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            let id = try #require(
                try fixture.server.registrations(of: "daemon").first?["registration"] as? String)
            try fixture.server.ask("POST", "/v1/registrations/\(id)/block", [:])
            let answer = try logIn(fixture, request(fixture, offlineHours: 720))
            #expect(answer.reason == .serverKeyBlocked, "\(answer)")
            #expect(kept(fixture).isEmpty)
            try fixture.cutNetwork()
            let client = try fixture.daemon.client()
            let cut = try client.ask(.authenticate(request(fixture, offlineHours: 720)))
            #expect(cut.reason == .serverTooLongAgo)
            try fixture.joinNetwork()
            try fixture.server.ask("POST", "/v1/registrations/\(id)/unblock", [:])
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
        }

        @Test("a key that was removed there is destroyed, with its earlier yes")
        func removed() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            let id = try #require(
                try fixture.server.registrations(of: "daemon").first?["registration"] as? String)
            try fixture.server.ask("POST", "/v1/registrations/\(id)/remove", [:])
            #expect(
                try logIn(fixture, request(fixture, offlineHours: 1)).reason == .serverKeyRemoved)
            #expect(fixture.files().isEmpty)
            #expect(
                try logIn(fixture, request(fixture, offlineHours: 1)).reason == .unknownServer)
        }

        @Test("ends with a change of fingers, and with its removal, reported to the server or not")
        func ended() async throws {
            let fixture = try await makeFixture()
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            try fixture.cutNetwork()
            let disable = Request.serverDisable(account: Person.daemon.account, server: fixture.url)
            #expect(try fixture.daemon.ask(disable).done?.state == .disabled)
            #expect(kept(fixture).isEmpty)
            #expect(
                try logIn(fixture, request(fixture, offlineHours: 1)).reason == .unknownServer)
            try fixture.joinNetwork()
            #expect(
                try fixture.enable(code: fixture.server.code(for: "daemon")).enabled != nil)
            #expect(try logIn(fixture, request(fixture)).assertion != nil)
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two")
            let changed = try logIn(fixture, request(fixture, offlineHours: 1))
            #expect(changed.reason == .serverKeyInvalidated)
            #expect(kept(fixture).isEmpty)
        }

        @Test("passes a token on as requested, and in no other way")
        func tokens() async throws {
            let fixture = try await makeFixture()
            let answer = try logIn(fixture, request(fixture, token: .answer))
            let token = try #require(answer.assertion?.server?.accessToken)
            #expect(token.filter { $0 == UInt8(ascii: ".") }.count == 2)
            let file = fixture.daemon.directory + "/tokens/\(Person.daemon.uid)"
            #expect(unsafe access(file, F_OK) != 0)
            // Not where the account asks itself: what lies there is for root's sessions.
            var locker = request(fixture, token: .file)
            locker.service = "i3lock"
            let own = try logIn(fixture, locker, as: .daemon)
            #expect(own.assertion?.server?.hasTokenFile == false)
            let filed = try logIn(fixture, request(fixture, token: .file))
            #expect(filed.assertion?.server?.hasTokenFile == true)
            #expect(filed.assertion?.server?.accessToken == nil)
            let first = try Layout.read(file)
            #expect(first.last == 10 && first.contains(UInt8(ascii: ".")))
            var status = stat()
            try #require(unsafe stat(file, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600 && status.st_uid == 0)
            // Its time is its end: five minutes from now.
            let left = Int(status.st_mtim.tv_sec) - time(nil)
            #expect((200...300).contains(left))
            try #require(unsafe stat(Layout.directory(of: file), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            _ = try logIn(fixture, request(fixture, token: .file))
            #expect(try Layout.read(file) != first)
            // One that has ended goes with the next start, one that has not stays.
            try fixture.daemon.restart()
            #expect(unsafe access(file, F_OK) == 0)
            try fixture.daemon.restart {
                var times = [timespec(), timespec()]
                times[1].tv_sec = time(nil) - 1
                #expect(unsafe utimensat(AT_FDCWD, file, &times, 0) == 0)
            }
            #expect(unsafe access(file, F_OK) != 0)
        }
    }
}
