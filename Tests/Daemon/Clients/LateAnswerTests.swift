// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A server's answer for which no client waits any more")
    final class LateAnswerTests: VerdictFixture {
        private let asked = DispatchedEvent()
        private let goOn: Event

        init() throws {
            goOn = try Event()
            try super.init(on: nil)
        }

        /// Has the server take its time for requests of a kind, and then say so.
        private func hold(_ verb: RelayVerb, then answer: RelayAnswer?) {
            let (asked, goOn) = (asked, goOn)
            server.answering { request in
                guard request.verb == verb else { return nil }
                asked.happen()
                Self.wait(until: goOn)
                return answer
            }
        }

        private static func wait(until event: Event) {
            _ = Posix.wait(
                for: event.descriptor.number, or: -1, until: ContinuousClock.now + .seconds(20))
        }

        private static let removed = RelayAnswer.refused(
            code: Bytes("key-removed".utf8), status: 401, attempts: nil)

        /// A login that the server has been asked about, and has not answered.
        private func begin(_ request: Request, as person: Person = .daemon) throws -> TestClient {
            let client = try fixture.client(person)
            try client.send(request)
            try client.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            return client
        }

        @Test("is processed before the daemon ends because it is idle")
        func idle() throws {
            try DaemonFixture.write("[daemon]\nidle-exit = 1s\n", to: fixture.configuration)
            let activated = try fixture.activated()
            // As in systemd/signetd.socket.
            try #require(unsafe chmod(fixture.socket, 0o666) == 0)
            hold(.login, then: Self.removed)
            do {
                let client = try begin(fixture.playedLogin())
                try client.send(.cancel)
                #expect(try client.last().reason == .cancelled)
            }
            // Longer than it stays for nothing.
            _ = Posix.wait(for: -1, or: -1, until: ContinuousClock.now + .milliseconds(2_500))
            #expect(activated.ended == nil)
            goOn.happen()
            #expect(try activated.expectEnd().ending == .exited(0))
            #expect(fixture.serverFiles.isEmpty)
        }

        @Test("is processed before a daemon ends that was asked to")
        func told() throws {
            hold(.login, then: Self.removed)
            let client = try begin(fixture.playedLogin())
            fixture.program.signal(SIGTERM)
            #expect(try client.last().reason == .stopping)
            goOn.happen()
            #expect(try fixture.program.expectEnd().ending == .exited(0))
            #expect(fixture.serverFiles.isEmpty)
        }

        @Test("is not waited for longer than a server may take, nor where nothing hangs on it")
        func bounded() throws {
            // The relay, which may ask twice, is given up after seven seconds.
            try DaemonFixture.write("[relay]\ntimeout = 1s\n", to: fixture.configuration)
            try fixture.restart()
            for (verb, limit) in [(RelayVerb.login, 11), (.challenge, 1.5)] {
                hold(verb, then: nil)
                if verb == .login {
                    _ = try begin(fixture.playedLogin())
                } else {
                    let client = try fixture.client(.daemon)
                    try client.send(fixture.playedLogin())
                    try asked.wait()
                }
                let start = ContinuousClock.now
                try fixture.restart()
                // A busy machine may need as long again to start the next one.
                #expect(ContinuousClock.now - start < .seconds(limit + 20), "\(verb)")
                server.answering(yes())
                #expect(fixture.serverFiles.count == 1)
            }
            goOn.happen()
        }

        @Test("that a key is registered makes the daemon tell the server that the key is gone")
        func registered() throws {
            let disable = Request.serverDisable(
                account: Person.daemon.account, server: PlayedServer.url)
            #expect(try fixture.ask(disable).done?.state == CredentialState.none)
            hold(.prove, then: .proven(.active, fingerprint: []))
            let client = try begin(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: PlayedServer.url,
                        code: Bytes("00000-00000-00000-00000".utf8))), as: .root)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            // Not before the server has said what it did: it would find nothing to remove.
            #expect(try fixture.servers().isEmpty && fixture.serverFiles.count == 1)
            let before = removals
            goOn.happen()
            try awaitNoFiles(in: fixture.file("servers", of: .daemon))
            #expect(removals == before + 1)
        }

        private var removals: Int { server.requests.filter { $0.verb == .remove }.count }
    }
}
