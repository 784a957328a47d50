// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Relay

extension SecondDaemonTests {
    @Suite("What makes a login at a server an offline one")
    final class ServerAwayTests: VerdictFixture {
        @Test("only what the relay says of the way to the server makes a login an offline one")
        func away() throws {
            #expect(try logIn().assertion != nil)
            cut()
            #expect(try logIn().assertion?.server != nil)
            cut(isAway: false)
            let client = try fixture.client()
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
            #expect(client.heard.allSatisfy { $0.notice.map { $0.kind == .preparing } ?? true })
            #expect(verdicts.count == 1)
        }

        @Test("a relay that has no place left makes none")
        func full() throws {
            #expect(try logIn().assertion != nil)
            let path = fixture.directory + "/relay"
            let client = try fixture.client()
            let hours = Request.authenticate(request(offlineHours: 720))
            let stop = try Event()
            try #require(unsafe unlink(path) == 0)
            let real = Listening(try PacketListener.replacing(path, mode: 0o600))
            let relay = try RelayService(caller: 0) { _ in
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
            let path = fixture.directory + "/relay"
            let client = try fixture.client()
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

        @Test("the clock's floor is lowered only by a server that root names")
        func anybodysWord() throws {
            #expect(try logIn().assertion != nil)
            let path = fixture.file("counter", of: .daemon)
            func latest() throws -> String {
                let text = String(decoding: try Layout.read(path), as: UTF8.self)
                return try #require(text.split(separator: "\n").last { $0.hasPrefix("latest: ") })
                    .description
            }
            let honest = try latest()
            server.answering(yes(at: 0))
            // The account itself, which may name any server and key.
            var locker = request()
            locker.service = "i3lock"
            let own = try fixture.touchEach(
                .authenticate(locker), with: "one", client: fixture.client(.daemon))
            #expect(own.assertion != nil)
            #expect(try latest() >= honest)
            cut()
            #expect(try logIn(request(offlineHours: 720)).reason == .serverTooLongAgo)
            server.answering(yes(at: 0))
            // The login's own receipt is written when it is confirmed, when its second is over, or when
            // the client is gone: the file has to be read before.
            var (corrected, isInTime) = ("", false)
            for _ in 0..<10 where !isInTime {
                let (client, begin) = (try fixture.client(), ContinuousClock.now)
                #expect(try logIn(client: client).assertion != nil)
                corrected = try withExtendedLifetime(client) { try latest() }
                isInTime = ContinuousClock.now - begin < .seconds(1)
            }
            #expect(corrected == "latest: 1970-01-01T00:00:00Z")
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
