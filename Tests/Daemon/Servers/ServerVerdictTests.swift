// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Crypto
import Domain
import Glibc
import LoginProtocol
import Posix
import SignedFormats
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A server's yes to a login, while others act, and what stands for it later")
    final class ServerVerdictTests: VerdictFixture {
        // MARK: One after the other

        @Test("logins are sent to the server one by one, in the order of their counters")
        func inTurn() throws {
            let (asked, goOn) = (DispatchedEvent(), try Event())
            let state = Mutex<(counters: [UInt64], isUnderWay: Bool, overlapped: Bool)>(
                ([], false, false))
            let plain = yes()
            server.answering { request in
                guard case .login(let login) = request else { return nil }
                let counter = (try? LoginStatement(parsing: login.statement))?.claims.counter ?? 0
                let isFirst = state.withLock { state in
                    state.counters.append(counter)
                    if state.isUnderWay { state.overlapped = true }
                    state.isUnderWay = true
                    return state.counters.count == 1
                }
                if isFirst {
                    asked.happen()
                    hold(until: goOn)
                }
                state.withLock { $0.isUnderWay = false }
                return plain(request)
            }
            let (first, second) = (try fixture.client(), try fixture.client())
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            try second.send(.authenticate(request()))
            try second.wait(for: .touch)
            let before = try fixture.receipts(of: .daemon).receipts.count
            try fixture.text.send(.scan("one"))
            while try fixture.receipts(of: .daemon).receipts.count == before {}
            for _ in 0..<20 { _ = try fixture.status(of: .daemon) }
            goOn.happen()
            #expect(try first.last().assertion != nil)
            #expect(try second.last().assertion != nil)
            let (counters, _, overlapped) = state.withLock { $0 }
            #expect(!overlapped && counters.count == 2 && counters[0] < counters[1])
        }

        @Test("a request that would wait beyond its own time is refused, and takes no counter")
        func busy() throws {
            let (asked, goOn) = (DispatchedEvent(), try Event())
            let counters = Mutex<[UInt64]>([])
            let plain = yes()
            server.answering { request in
                guard case .login(let login) = request else { return nil }
                let counter = (try? LoginStatement(parsing: login.statement))?.claims.counter ?? 0
                let isFirst = counters.withLock { counters in
                    counters.append(counter)
                    return counters.count == 1
                }
                if isFirst {
                    asked.happen()
                    hold(until: goOn)
                }
                return plain(request)
            }
            let first = try fixture.client()
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            #expect(try logIn(request(milliseconds: 4_000)).reason == .serverBusy)
            goOn.happen()
            #expect(try first.last().assertion != nil)
            #expect(try logIn().assertion != nil)
            let told = counters.withLock { $0 }
            #expect(told.count == 2 && told[1] == told[0] + 1)
        }

        @Test("a request that gives up releases the key only when the relay has finished")
        func givenUp() throws {
            let (asked, goOn) = (DispatchedEvent(), try Event())
            let isOver = Mutex(false)
            let plain = yes()
            #expect(try logIn().assertion != nil)
            #expect(verdicts.count == 1)
            server.answering { request in
                guard case .login = request else { return nil }
                asked.happen()
                hold(until: goOn)
                isOver.withLock { $0 = true }
                return .refused(code: Bytes("refused".utf8), status: 401, attempts: nil)
            }
            let first = try fixture.client()
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            try first.send(.cancel)
            #expect(try first.last().reason == .cancelled)
            server.answering { request in
                if case .login = request, !isOver.withLock({ $0 }) {
                    Issue.record("the server hears of the next before it has answered the first")
                }
                return plain(request)
            }
            let second = try fixture.client()
            try second.send(.authenticate(request()))
            try second.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            for _ in 0..<20 { _ = try fixture.status(of: .daemon) }
            #expect(verdicts.count == 1)
            goOn.happen()
            #expect(try second.last().assertion != nil)
        }

        @Test("no finger is awaited so long that the server's answer would be too late")
        func touchTime() throws {
            let client = try fixture.client()
            try client.send(.authenticate(request(milliseconds: 4_000)))
            try client.wait(for: .touch)
            let start = ContinuousClock.now
            #expect(try client.last().reason == .timedOut)
            #expect(ContinuousClock.now - start < .seconds(4))
        }

        // MARK: What others do meanwhile

        enum Deed: CaseIterable {
            case disable, disableServer, enrol, delete
        }

        @Test(
            "is void if fingers, key or account changed while it was asked for",
            arguments: Deed.allCases)
        func meanwhile(deed: Deed) throws {
            #expect(try logIn(request(token: .file)).assertion != nil)
            #expect(hasToken)
            let (asked, goOn) = try sayingYesLater()
            let client = try fixture.client()
            try client.send(.authenticate(request(token: .file)))
            try client.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            let account = Person.daemon.account
            switch deed {
            case .disable: _ = try fixture.ask(.disable(account: account))
            case .disableServer:
                _ = try fixture.ask(.serverDisable(account: account, server: PlayedServer.url))
            case .enrol: try fixture.enrol(.daemon, .leftIndex, as: "two")
            case .delete: _ = try fixture.ask(.delete(account: account, finger: nil))
            }
            // Also what the login before has left.
            #expect(!hasToken)
            goOn.happen()
            let answer = try client.last()
            // And not since the server took too long for its answer.
            let reason = try #require(answer.denial?.reason, "\(answer)")
            #expect(reason != .serverLost && reason != .serverBusy)
            #expect(!hasToken)
            if deed != .disable { #expect(verdicts.isEmpty) }
        }

        @Test("gives out no login password that was given up while it was asked for")
        func passwordMeanwhile() throws {
            _ = try fixture.give()
            #expect(try fixture.keyring() == .on)
            let (asked, goOn) = (DispatchedEvent(), try Event())
            var wish = request()
            wish.wantsKeyring = true
            let login = Request.authenticate(wish)
            #expect(try fixture.opened(by: login) == "right")
            server.answering(
                yes {
                    asked.happen()
                    hold(until: goOn)
                })
            let client = try fixture.client()
            try client.send(login)
            try client.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            try #require(unsafe unlink(fixture.file("keyring", of: .daemon)) == 0)
            goOn.happen()
            let assertion = try #require(try client.last().assertion)
            #expect(try assertion.server != nil && client.confirmedPassword() == nil)
        }

        @Test("keeps its token when another server's key ends, and loses it with its own key")
        func twoServers() throws {
            let other: ServerURL = "https://other.example"
            #expect(try fixture.enablePlayed(at: other).enabled != nil)
            #expect(try logIn(request(token: .file)).assertion != nil)
            for (server, stays) in [(other, true), (PlayedServer.url, false)] {
                let account = Person.daemon.account
                #expect(
                    try fixture.ask(.serverDisable(account: account, server: server)).done != nil)
                #expect(hasToken == stays)
            }
        }

        // MARK: What is kept

        @Test("is kept only if it is by the pinned key; the module judges it itself")
        func pinned() throws {
            server.answering(yes(by: try P256PrivateKey.generate()))
            #expect(try logIn().assertion?.server != nil)
            #expect(verdicts.isEmpty)
            server.answering(yes())
            #expect(try logIn().assertion?.server != nil)
            #expect(verdicts.count == 1)
            // One by another key leaves it as it is.
            server.answering(yes(by: try P256PrivateKey.generate()))
            #expect(try logIn().assertion?.server != nil)
            cut()
            #expect(try logIn().assertion?.server != nil)
        }

        @Test("has nothing follow it where it is by another key, or about another login")
        func none() throws {
            try #require(try fixture.give().done?.keyring == .on)
            let plain = yes()
            let others: [@Sendable (RelayRequest) -> RelayAnswer?] = [
                yes(by: try P256PrivateKey.generate()),
                { request in
                    guard case .login(var login) = request else { return nil }
                    login.module?.challenge = .sample(repeating: 1)
                    return plain(.login(login))
                },
            ]
            for token in [TokenDelivery.file, .answer] {
                var wish = request(token: token)
                wish.wantsKeyring = true
                for other in others {
                    server.answering(other)
                    let client = try fixture.client()
                    let assertion = try #require(try logIn(wish, client: client).assertion)
                    let given = try #require(assertion.server)
                    #expect(!given.verdict.isEmpty && given.accessToken == nil)
                    #expect(!given.hasTokenFile && !hasToken)
                    #expect(try client.confirm() == .denial(Denial(.answerTooLate)))
                    #expect(verdicts.isEmpty)
                }
            }
            #expect(!fixture.program.errors.contains("login password of daemon released"))
            server.answering(plain)
            var wish = request(token: .file)
            wish.wantsKeyring = true
            let client = try fixture.client()
            let assertion = try #require(try logIn(wish, client: client).assertion)
            #expect(assertion.server?.hasTokenFile == true && hasToken)
            #expect(try client.confirmedPassword() == Bytes("right".utf8) && verdicts.count == 1)
        }

        @Test("is void, and no touch is asked for, if another key is pinned now")
        func rotated() throws {
            #expect(try logIn().assertion != nil)
            cut()
            var rotated = request()
            rotated.server?.key = try #require(
                PublicKeyPoint(P256PrivateKey.generate().publicPoint))
            let client = try fixture.client()
            #expect(try client.ask(.authenticate(rotated)).reason == .serverTooLongAgo)
            #expect(client.heard.allSatisfy { $0.notice == nil })
        }

        @Test("a no that comes as a verdict forgets the yes before")
        func deny() throws {
            #expect(try logIn(request(token: .file)).assertion != nil)
            #expect(verdicts.count == 1 && hasToken)
            server.answering(yes(.deny))
            #expect(try logIn().reason == .serverRefused)
            #expect(verdicts.isEmpty && !hasToken)
            cut()
            #expect(try logIn().reason == .serverTooLongAgo)
        }

        @Test("may be a newer one that came while the finger was awaited without the server")
        func newer() throws {
            server.answering(yes(at: Self.now - 600))
            #expect(try logIn().assertion != nil)
            let (asked, goOn) = (DispatchedEvent(), try Event())
            let plain = yes {
                asked.happen()
                hold(until: goOn)
            }
            server.answering(plain)
            let first = try fixture.client()
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            cut()
            let second = try fixture.client()
            try second.send(.authenticate(request()))
            try second.wait(for: .touch)
            goOn.happen()
            let fresh = try #require(try first.last().assertion?.server)
            try fixture.text.send(.scan("one"))
            #expect(try second.last().assertion?.server?.verdict == fresh.verdict)
        }

        @Test("is too old by the moment that the server signed")
        func age() throws {
            let then = Self.now - 2 * 3_600
            server.answering(yes(at: then))
            #expect(try logIn().assertion != nil)
            cut()
            let late = try logIn(request(offlineHours: 1))
            #expect(late.reason == .serverTooLongAgo && late.denial?.since == then)
            #expect(try logIn(request(offlineHours: 3)).assertion != nil)
        }

        @Test("is void on a machine whose clock is behind what a server has signed")
        func clock() throws {
            let ahead = Self.now + 3_600
            server.answering(yes(at: ahead))
            #expect(try logIn().assertion != nil)
            cut()
            let answer = try logIn(request(offlineHours: 720))
            #expect(answer.reason == .clockSetBack)
            #expect((answer.denial?.since ?? 0) >= ahead)
            // Also where the daemon has been started anew.
            try fixture.restart()
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        @Test("grows older with the machine, whatever its clock says")
        func running() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn(request(offlineHours: 1)).assertion != nil)
            try fixture.passTime(2 * 3_600)
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        @Test("is void on a machine whose clock is behind its newest receipt")
        func receipts() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn().assertion != nil)
            let path = fixture.file("receipts", of: .daemon)
            var text = try Layout.read(path)
            let mark = Bytes("\nissued: 20".utf8)
            let last = try #require(
                text.indices.reversed().first { text[$0...].starts(with: mark) })
            text[last + mark.count - 1] = UInt8(ascii: "1")
            try DaemonFixture.write(text, to: path)
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        @Test("counts the latest of all receipts, until a server says what time it is")
        func latestReceipt() throws {
            #expect(try logIn().assertion != nil)
            // It answers when it has written what it writes behind an answer.
            _ = try fixture.status(of: .daemon)
            let path = fixture.file("counter", of: .daemon)
            let text = String(decoding: try Layout.read(path), as: UTF8.self)
            // As a touch has left it when the clock was wrong.
            let wrong = text.replacing("\nlatest: 20", with: "\nlatest: 21")
            try #require(wrong != text)
            try DaemonFixture.write(Bytes(wrong.utf8), to: path)
            cut()
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
            // A touch of now does not undo it.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
            server.answering(yes())
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn(request(offlineHours: 720)).assertion != nil)
        }
    }
}
