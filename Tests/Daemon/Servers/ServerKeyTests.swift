// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Foundation
import Glibc
import LoginProtocol
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("A key for a server, while others act on it")
    struct ServerKeyTests {
        private let fixture: DaemonFixture
        private let server: PlayedServer
        private let disable = Request.serverDisable(
            account: Person.daemon.account, server: PlayedServer.url)

        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, as: "one")
            server = try PlayedServer(for: fixture)
        }

        private static func refused(_ code: String) -> RelayAnswer {
            .refused(code: Bytes(code.utf8), status: 401, attempts: nil)
        }

        @Test(
            "is not destroyed by the word of a server to which it has proved nothing",
            arguments: [
                ("key-removed", DenialReason.serverKeyRemoved),
                ("key-replaced", .serverKeyReplaced),
            ])
        func unproven(code: String, reason: DenialReason) throws {
            try fixture.enablePlayed()
            server.answering { request in
                if case .challenge = request { Self.refused(code) } else { nil }
            }
            #expect(try fixture.logInPlayed().reason == .serverRefused)
            #expect(try fixture.servers() == [.good])
            server.answering { request in
                if case .login = request { Self.refused(code) } else { nil }
            }
            #expect(try fixture.logInPlayed().reason == reason)
            #expect(fixture.serverFiles.isEmpty)
        }

        @Test(
            "of which the server cannot be told is dropped, and no message claims that the server knows",
            arguments: [
                ("key-blocked", CredentialState.invalidated), ("refused", .invalidated),
                ("not-found", .invalidated), ("key-removed", .none), ("key-replaced", .none),
            ])
        func untold(code: String, state: CredentialState) throws {
            try fixture.enablePlayed()
            server.answering { request in
                if case .remove = request { Self.refused(code) } else { nil }
            }
            #expect(try fixture.ask(disable).done?.state == state)
            #expect(fixture.serverFiles.isEmpty)
        }

        @Test("that took another's place is not destroyed in its place")
        func replacedMeanwhile() throws {
            try fixture.enablePlayed()
            let old = fixture.serverFiles
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            #expect(try fixture.ask(disable).done?.state == .disabled)
            // The old one's server is told while a new one is there for the same URL.
            server.answering { request in
                if case .challenge(let wish) = request, wish.action == Bytes("remove".utf8) {
                    .unreachable(why: [], isRepeatable: true)
                } else {
                    nil
                }
            }
            #expect(try fixture.enablePlayed().enabled != nil)
            #expect(
                try fixture.servers().sorted { $0.rawValue < $1.rawValue } == [.good, .removing])
            let new = fixture.serverFiles.subtracting(old)
            let told = DispatchedEvent()
            server.answering { request in
                if case .remove = request { told.happen() }
                return nil
            }
            #expect(try fixture.logInPlayed().token != nil)
            try told.wait()
            // What follows the removal is on disk when the next answer is there.
            while try fixture.servers() != [.good] { continue }
            #expect(fixture.serverFiles == new && new.count == 1)
            #expect(try fixture.logInPlayed().token != nil)
        }

        @Test("that was removed is reported to its server while other requests are served")
        func toldMeanwhile() throws {
            try fixture.enablePlayed()
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            #expect(try fixture.ask(disable).done?.state == .disabled)
            let (asked, gate) = (DispatchedEvent(), DispatchedEvent())
            server.answering { request in
                guard case .challenge = request else { return nil }
                asked.happen()
                try? gate.wait()
                return nil
            }
            #expect(try fixture.servers() == [.removing])
            try asked.wait()
            // The server takes its time; nothing here waits for it.
            #expect(try fixture.servers() == [.removing])
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            gate.happen()
            try awaitNoFiles(in: fixture.file("servers", of: .daemon))
        }

        @Test("gives no token where it was given up while the server was asked")
        func disabledMeanwhile() throws {
            try fixture.enablePlayed()
            let disabled = Mutex<DoneAnswer?>(nil)
            let (fixture, disable) = (UncheckedFixture(fixture), disable)
            server.answering { request in
                switch request {
                case .login:
                    let done = try? fixture.fixture.ask(disable).done
                    disabled.withLock { $0 = done }
                    return nil
                case .challenge(let wish) where wish.action == Bytes("remove".utf8):
                    return .unreachable(why: [], isRepeatable: true)
                default: return nil
                }
            }
            let answer = try fixture.fixture.logInPlayed()
            #expect(disabled.withLock { $0 }?.state == .disabled)
            #expect(answer.reason == .unknownServer && answer.token == nil)
            #expect(try fixture.fixture.servers() == [.removing])
        }

        @Test("that a crash left in doubt is removed, and delays no request")
        func killedBeforeProof() throws {
            let fixture = UncheckedFixture(fixture)
            server.answering { request in
                guard case .prove = request else { return nil }
                fixture.fixture.program.signal(SIGKILL)
                return nil
            }
            #expect(throws: (any Error).self) { try fixture.fixture.enablePlayed() }
            #expect(fixture.fixture.serverFiles.count == 1)
            let asked = server.requests.count
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            try fixture.fixture.restart()
            #expect(try fixture.fixture.logInPlayed().reason == .unknownServer)
            #expect(try fixture.fixture.servers() == [.removing])
            server.answering { _ in nil }
            // Nobody has to ask for it.
            try fixture.fixture.restart()
            try awaitNoFiles(in: fixture.fixture.file("servers", of: .daemon))
            let told = server.requests.dropFirst(asked)
            #expect(told.contains { $0.verb == .remove } && !told.contains { $0.verb == .login })
            #expect(try fixture.fixture.enablePlayed().enabled != nil)
            #expect(try fixture.fixture.logInPlayed().token != nil)
        }

        @Test("is not proved where the fingers change while the server is asked")
        func changedBeforeProof() throws {
            let fixture = UncheckedFixture(fixture)
            server.answering { request in
                guard case .prove = request else { return nil }
                _ = try? fixture.fixture.enrol(.daemon, .leftIndex, as: "two")
                return nil
            }
            #expect(try fixture.fixture.enablePlayed().reason == .serverKeyInvalidated)
            #expect(try fixture.fixture.logInPlayed().enabled == nil)
            #expect(try fixture.fixture.servers() == [.invalidated])
        }

        @Test("that another code has overtaken is not said to be one of other fingers")
        func overtaken() throws {
            let (asked, gate) = (DispatchedEvent(), DispatchedEvent())
            let isFirst = Mutex(true)
            server.answering { request in
                guard case .prove = request else { return nil }
                let waits = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard waits else { return nil }
                asked.happen()
                try? gate.wait()
                return nil
            }
            let client = try fixture.client()
            try client.send(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.account, server: PlayedServer.url,
                        code: Bytes("00000-00000-00000-00000".utf8))))
            try client.wait(for: .touch)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            #expect(try fixture.enablePlayed().enabled != nil)
            gate.happen()
            #expect(try client.last().reason == .knownServer)
            #expect(try fixture.servers() == [.good])
        }

        @Test("of one account cannot take all places of the relay")
        func places() throws {
            try fixture.enablePlayed()
            try fixture.enrol(.bin, as: "two")
            let gate = DispatchedEvent()
            let asked = DispatchedEvent()
            server.answering { request in
                guard case .challenge = request else { return nil }
                asked.happen()
                try? gate.wait()
                return nil
            }
            var clients: [TestClient] = []
            for _ in 0..<4 {
                let client = try fixture.client(.daemon)
                try client.send(fixture.playedLogin())
                try asked.wait()
                clients.append(client)
            }
            let denial = try fixture.client(.daemon).ask(fixture.playedLogin()).denial
            #expect(denial?.reason == .serverUnreachable)
            #expect(
                denial?.subject
                    == Bytes("the account has too many requests to servers at once".utf8))
            // Another account has its own.
            #expect(try fixture.touchEach(Self.enableBin, with: "two").enabled != nil)
            for _ in clients { gate.happen() }
            for client in clients { try client.send(.cancel) }
        }

        private static let enableBin = Request.serverEnable(
            ServerEnableRequest(
                account: Person.bin.account, server: PlayedServer.url,
                code: Bytes("00000-00000-00000-00000".utf8)))
    }
}

/// A fixture that a played server asks while the test waits for the answer.
// SAFETY: one of the two threads waits for the other, so that they are never in it together.
private final class UncheckedFixture: @unchecked Sendable {
    let fixture: DaemonFixture
    init(_ fixture: DaemonFixture) { self.fixture = fixture }
}

/// Something that happens on one thread and is awaited on another, as often as it happens.
final class DispatchedEvent: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func happen() { semaphore.signal() }

    func wait() throws { try #require(semaphore.wait(timeout: .now() + 20) == .success) }
}
