import Crypto
import Glibc
import Posix
import Statement
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Relay

extension DaemonTests {
    @Suite("A server's yes to a login, while others act, and what stands for it later")
    struct ServerVerdictTests {
        private let bench: DaemonBench
        private let server: PlayedServer
        private let key: P256PrivateKey
        private let audience = PlayedServer.audience

        init() throws {
            bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            server = try PlayedServer(for: bench)
            key = try P256PrivateKey.generate()
            #expect(try bench.enablePlayed().enabled != nil)
            server.answering(yes())
        }

        private static var now: UInt64 { UInt64(time(nil)) }

        /// What a server says to every login that a module wants a verdict for.
        private func yes(
            _ decision: VerdictDecision = .allow, by signer: P256PrivateKey? = nil,
            at seconds: UInt64? = nil, before: @escaping @Sendable () -> Void = {}
        ) -> @Sendable (RelayRequest) -> RelayAnswer? {
            let (signer, audience) = (signer ?? key, audience)
            return { request in
                guard case .login(let login) = request, let module = login.module,
                    let statement = try? LoginStatement(parsing: login.statement)
                else { return nil }
                before()
                let issued = Instant(seconds: seconds ?? Self.now)
                let text = Verdict(
                    audience: audience, account: statement.head.account, local: module.account,
                    device: statement.head.device, challenge: statement.challenge,
                    module: module.challenge, decision: decision, issued: issued, expires: issued
                ).encoded()
                guard let signature = try? signer.signature(of: text, in: .verdict).blob else {
                    return nil
                }
                return .loggedIn(
                    RelayTokens(
                        accessToken: Bytes("a.b.c".utf8), seconds: 300, refreshToken: [],
                        verdict: RelayVerdict(statement: text, signature: signature)))
            }
        }

        /// Cuts the way to the server, as the relay tells it.
        private func cut(isAway: Bool = true) {
            server.answering { _ in
                .unreachable(why: Bytes("cut".utf8), isRepeatable: true, isAway: isAway)
            }
        }

        private func request(
            offlineHours: UInt32 = 1, milliseconds: UInt32 = 30_000, token: TokenDelivery? = nil
        ) -> AuthenticateRequest {
            AuthenticateRequest(
                account: Person.daemon.bytes, challenge: Bytes(repeating: 9, count: 32),
                service: Bytes("login".utf8), timeoutMilliseconds: milliseconds, maximumTries: 2,
                background: .allow,
                server: ServerWish(
                    url: PlayedServer.url, audience: audience, key: key.publicPoint,
                    offlineHours: offlineHours, token: token))
        }

        private func logIn(_ request: AuthenticateRequest? = nil) throws -> Answer {
            try bench.touchEach(
                .authenticate(request ?? self.request()), with: "one", client: bench.client())
        }

        private var verdicts: [String] { bench.serverFiles.filter { $0.hasSuffix(".verdict") } }

        private var hasToken: Bool {
            unsafe access(bench.directory + "/tokens/\(Person.daemon.uid)", F_OK) == 0
        }

        // MARK: One after the other

        @Test("one login after the other goes to the server, in the order of their counters")
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
            let (first, second) = (try bench.client(), try bench.client())
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try bench.text.send(.scan("one"))
            try asked.wait()
            try second.send(.authenticate(request()))
            try second.wait(for: .touch)
            let before = try bench.receipts(of: .daemon).receipts.count
            try bench.text.send(.scan("one"))
            while try bench.receipts(of: .daemon).receipts.count == before {}
            for _ in 0..<20 { _ = try bench.status(of: .daemon) }
            goOn.happen()
            #expect(try first.last().assertion != nil)
            #expect(try second.last().assertion != nil)
            let (counters, _, overlapped) = state.withLock { $0 }
            #expect(!overlapped && counters.count == 2 && counters[0] < counters[1])
        }

        @Test("who would have to wait beyond its own time is told, and no counter is taken for it")
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
            let first = try bench.client()
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try bench.text.send(.scan("one"))
            try asked.wait()
            #expect(try logIn(request(milliseconds: 4_000)).reason == .serverBusy)
            goOn.happen()
            #expect(try first.last().assertion != nil)
            #expect(try logIn().assertion != nil)
            let told = counters.withLock { $0 }
            #expect(told.count == 2 && told[1] == told[0] + 1)
        }

        @Test("who gives up leaves the key to the next only when the relay is through")
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
            let first = try bench.client()
            try first.send(.authenticate(request()))
            try first.wait(for: .touch)
            try bench.text.send(.scan("one"))
            try asked.wait()
            try first.send(.cancel)
            #expect(try first.last().reason == .cancelled)
            server.answering { request in
                if case .login = request, !isOver.withLock({ $0 }) {
                    Issue.record("the server hears of the next before it has answered the first")
                }
                return plain(request)
            }
            let second = try bench.client()
            try second.send(.authenticate(request()))
            try second.wait(for: .touch)
            try bench.text.send(.scan("one"))
            for _ in 0..<20 { _ = try bench.status(of: .daemon) }
            #expect(verdicts.count == 1)
            goOn.happen()
            #expect(try second.last().assertion != nil)
        }

        @Test("no finger is awaited so long that the server's answer would come too late")
        func touchTime() throws {
            let client = try bench.client()
            let start = ContinuousClock.now
            let answer = try client.ask(.authenticate(request(milliseconds: 4_000)))
            #expect(answer.reason == .timedOut)
            #expect(ContinuousClock.now - start < .milliseconds(3_500))
        }

        // MARK: What others do meanwhile

        enum Deed: CaseIterable {
            case disable, disableServer, enrol, delete
        }

        @Test(
            "is none any more where fingers, key or account changed while it was asked for",
            arguments: Deed.allCases)
        func meanwhile(deed: Deed) throws {
            #expect(try logIn(request(token: .file)).assertion != nil)
            #expect(hasToken)
            let (asked, goOn) = (DispatchedEvent(), try Event())
            server.answering(
                yes {
                    asked.happen()
                    hold(until: goOn)
                })
            let client = try bench.client()
            try client.send(.authenticate(request(token: .file)))
            try client.wait(for: .touch)
            try bench.text.send(.scan("one"))
            try asked.wait()
            let account = Person.daemon.bytes
            switch deed {
            case .disable: _ = try bench.ask(.disable(account: account))
            case .disableServer:
                _ = try bench.ask(.serverDisable(account: account, server: PlayedServer.url))
            case .enrol: try bench.enrol(.daemon, .leftIndex, as: "two")
            case .delete: _ = try bench.ask(.delete(account: account, finger: nil))
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

        // MARK: What is kept

        @Test("is kept only if it is by the pinned key; the module judges it all the same")
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

        @Test("is none, and no touch is asked for, where the pinned key is another one now")
        func rotated() throws {
            #expect(try logIn().assertion != nil)
            cut()
            var rotated = request()
            rotated.server?.key = try P256PrivateKey.generate().publicPoint
            let client = try bench.client()
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

        @Test("is none on a machine whose clock stands before what a server has signed")
        func clock() throws {
            let ahead = Self.now + 3_600
            server.answering(yes(at: ahead))
            #expect(try logIn().assertion != nil)
            cut()
            let answer = try logIn(request(offlineHours: 720))
            #expect(answer.reason == .clockSetBack)
            #expect((answer.denial?.since ?? 0) >= ahead)
            // Also where the daemon has been started anew.
            try bench.restart()
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        @Test("grows older with the machine, whatever its clock says")
        func running() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn(request(offlineHours: 1)).assertion != nil)
            try bench.passTime(2 * 3_600)
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        @Test("is none on a machine whose clock stands before its newest receipt")
        func receipts() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn().assertion != nil)
            let path = bench.file("receipts", of: .daemon)
            var text = try Layout.read(path)
            let mark = Bytes("\nissued: 20".utf8)
            let last = try #require(
                text.indices.reversed().first { text[$0...].starts(with: mark) })
            text[last + mark.count - 1] = UInt8(ascii: "1")
            try DaemonBench.write(text, to: path)
            #expect(try logIn(request(offlineHours: 720)).reason == .clockSetBack)
        }

        // MARK: What counts as away

        @Test("only what the relay says of the way to the server makes a login an offline one")
        func away() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn().assertion?.server != nil)
            cut(isAway: false)
            let client = try bench.client()
            let hours = Request.authenticate(request(offlineHours: 720))
            #expect(try client.ask(hours).reason == .serverUnreachable)
            for (code, reason) in [
                ("unavailable", DenialReason.serverUnreachable), ("slow-down", .serverRefused),
            ] {
                server.answering { _ in
                    .refused(code: Bytes(code.utf8), status: 503, attempts: nil)
                }
                #expect(try client.ask(hours).reason == reason)
            }
            #expect(client.heard.allSatisfy { $0.notice == nil })
            #expect(verdicts.count == 1)
        }

        @Test("a relay that has no place left makes none")
        func full() throws {
            #expect(try logIn().assertion != nil)
            let path = bench.directory + "/relay"
            let client = try bench.client()
            let hours = Request.authenticate(request(offlineHours: 720))
            let stop = try Event()
            try #require(unsafe unlink(path) == 0)
            let real = Listening(try PacketListener.replacing(path, mode: 0o600))
            let relay = RelayService(caller: 0) { _ in
                [.unreachable(why: [], isRepeatable: true, isAway: true)]
            }
            try onThread {
                try? relay.serve(real.listener, until: stop.descriptor.number, idle: nil)
            }
            var strangers: [Stranger] = []
            for _ in 0..<RelayService.limit { strangers.append(try Stranger(at: path)) }
            #expect(try client.ask(hours).reason == .serverUnreachable)
            strangers = []
            stop.happen()
        }

        @Test("a relay that says nothing in time, or is not there, makes none")
        func silent() throws {
            #expect(try logIn().assertion != nil)
            let path = bench.directory + "/relay"
            let client = try bench.client()
            let hours = Request.authenticate(request(offlineHours: 720))
            let goOn = try Event()
            server.answering { _ in
                hold(until: goOn)
                return .unreachable(why: [], isRepeatable: true, isAway: true)
            }
            #expect(try client.ask(hours).reason == .serverUnreachable)
            goOn.happen()
            try #require(unsafe unlink(path) == 0)
            #expect(try client.ask(hours).reason == .serverUnreachable)
            #expect(client.heard.allSatisfy { $0.notice == nil })
            #expect(verdicts.count == 1)
        }

        /// Somebody's request that takes one of the relay's places.
        private final class Stranger {
            let socket: PacketSocket
            init(at path: String) throws { socket = try PacketSocket.connect(to: path) }
        }

        private final class Listening: Sendable {
            let listener: PacketListener
            init(_ listener: consuming PacketListener) { self.listener = listener }
        }
    }
}

/// Has a server wait with its answer.
private func hold(until event: Event) {
    _ = wait(
        for: event.descriptor.number, or: -1, until: ContinuousClock.now + .seconds(20))
}
