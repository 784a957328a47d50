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
        private let bench: DaemonBench
        private let server: PlayedServer
        private let disable = Request.serverDisable(
            account: Person.daemon.bytes, server: PlayedServer.url)

        init() throws {
            bench = try DaemonBench([.text])
            try bench.enrol(.daemon, as: "one")
            server = try PlayedServer(for: bench)
        }

        private static func refused(_ code: String) -> RelayAnswer {
            .refused(code: Bytes(code.utf8), status: 401, attempts: nil)
        }

        @Test(
            "is not destroyed because somebody says so whom it has proved nothing to",
            arguments: [
                ("key-removed", DenialReason.serverKeyRemoved),
                ("key-replaced", .serverKeyReplaced),
            ])
        func unproven(code: String, reason: DenialReason) throws {
            try bench.enablePlayed()
            server.answering { request in
                if case .challenge = request { Self.refused(code) } else { nil }
            }
            #expect(try bench.logInPlayed().reason == .serverRefused)
            #expect(try bench.servers() == [.good])
            server.answering { request in
                if case .login = request { Self.refused(code) } else { nil }
            }
            #expect(try bench.logInPlayed().reason == reason)
            #expect(bench.serverFiles.isEmpty)
        }

        @Test(
            "that its server takes no word of is dropped, and nobody says that the server knows",
            arguments: [
                ("key-blocked", CredentialState.invalidated), ("refused", .invalidated),
                ("not-found", .invalidated), ("key-removed", .none), ("key-replaced", .none),
            ])
        func untold(code: String, state: CredentialState) throws {
            try bench.enablePlayed()
            server.answering { request in
                if case .remove = request { Self.refused(code) } else { nil }
            }
            #expect(try bench.ask(disable).done?.state == state)
            #expect(bench.serverFiles.isEmpty)
        }

        @Test("that took another's place is not destroyed in its place")
        func replacedMeanwhile() throws {
            try bench.enablePlayed()
            let old = bench.serverFiles
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            #expect(try bench.ask(disable).done?.state == .disabled)
            // The old one's server is told while a new one is there for the same URL.
            server.answering { request in
                if case .challenge(let wish) = request, wish.action == Bytes("remove".utf8) {
                    .unreachable(why: [], isRepeatable: true)
                } else {
                    nil
                }
            }
            #expect(try bench.enablePlayed().enabled != nil)
            #expect(try bench.servers().sorted { $0.rawValue < $1.rawValue } == [.good, .removing])
            let new = bench.serverFiles.subtracting(old)
            let told = DispatchedEvent()
            server.answering { request in
                if case .remove = request { told.happen() }
                return nil
            }
            #expect(try bench.logInPlayed().token != nil)
            try told.wait()
            // What follows the removal is on disk when the next answer is there.
            while try bench.servers() != [.good] { continue }
            #expect(bench.serverFiles == new && new.count == 1)
            #expect(try bench.logInPlayed().token != nil)
        }

        @Test("that was given up is told to its server while others are served")
        func toldMeanwhile() throws {
            try bench.enablePlayed()
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            #expect(try bench.ask(disable).done?.state == .disabled)
            let (asked, gate) = (DispatchedEvent(), DispatchedEvent())
            server.answering { request in
                guard case .challenge = request else { return nil }
                asked.happen()
                try? gate.wait()
                return nil
            }
            #expect(try bench.servers() == [.removing])
            try asked.wait()
            // The server takes its time; nobody here waits for it.
            #expect(try bench.servers() == [.removing])
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            gate.happen()
            try awaitNoFiles(in: bench.file("servers", of: .daemon))
        }

        @Test("gives no token where it was given up while the server was asked")
        func disabledMeanwhile() throws {
            try bench.enablePlayed()
            let disabled = Mutex<DoneAnswer?>(nil)
            let (bench, disable) = (UncheckedBench(bench), disable)
            server.answering { request in
                switch request {
                case .login:
                    let done = try? bench.bench.ask(disable).done
                    disabled.withLock { $0 = done }
                    return nil
                case .challenge(let wish) where wish.action == Bytes("remove".utf8):
                    return .unreachable(why: [], isRepeatable: true)
                default: return nil
                }
            }
            let answer = try bench.bench.logInPlayed()
            #expect(disabled.withLock { $0 }?.state == .disabled)
            #expect(answer.reason == .unknownServer && answer.token == nil)
            #expect(try bench.bench.servers() == [.removing])
        }

        @Test("of which a crash leaves open whether its server has it is given up, in nobody's way")
        func killedBeforeProof() throws {
            let bench = UncheckedBench(bench)
            server.answering { request in
                guard case .prove = request else { return nil }
                bench.bench.program.signal(SIGKILL)
                return nil
            }
            #expect(throws: (any Error).self) { try bench.bench.enablePlayed() }
            #expect(bench.bench.serverFiles.count == 1)
            let asked = server.requests.count
            server.answering { _ in .unreachable(why: [], isRepeatable: true) }
            try bench.bench.restart()
            #expect(try bench.bench.logInPlayed().reason == .unknownServer)
            #expect(try bench.bench.servers() == [.removing])
            server.answering { _ in nil }
            // Nobody has to ask for it.
            try bench.bench.restart()
            try awaitNoFiles(in: bench.bench.file("servers", of: .daemon))
            let told = server.requests.dropFirst(asked)
            #expect(told.contains { $0.verb == .remove } && !told.contains { $0.verb == .login })
            #expect(try bench.bench.enablePlayed().enabled != nil)
            #expect(try bench.bench.logInPlayed().token != nil)
        }

        @Test("is not proved where the fingers change while the server is asked")
        func changedBeforeProof() throws {
            let bench = UncheckedBench(bench)
            server.answering { request in
                guard case .prove = request else { return nil }
                _ = try? bench.bench.enrol(.daemon, .leftIndex, as: "two")
                return nil
            }
            #expect(try bench.bench.enablePlayed().reason == .serverKeyInvalidated)
            #expect(try bench.bench.logInPlayed().enabled == nil)
            #expect(try bench.bench.servers() == [.invalidated])
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
            let client = try bench.client()
            try client.send(
                .serverEnable(
                    ServerEnableRequest(
                        account: Person.daemon.bytes, server: PlayedServer.url,
                        code: Bytes("00000-00000-00000-00000".utf8))))
            try client.wait(for: .touch)
            try bench.text.send(.scan("one"))
            try asked.wait()
            #expect(try bench.enablePlayed().enabled != nil)
            gate.happen()
            #expect(try client.last().reason == .knownServer)
            #expect(try bench.servers() == [.good])
        }

        @Test("of one account cannot take all places of the relay")
        func places() throws {
            try bench.enablePlayed()
            try bench.enrol(.bin, as: "two")
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
                let client = try bench.client(.daemon)
                try client.send(bench.playedLogin())
                try asked.wait()
                clients.append(client)
            }
            let denial = try bench.client(.daemon).ask(bench.playedLogin()).denial
            #expect(denial?.reason == .serverUnreachable)
            #expect(denial?.subject == Bytes("the account asks servers too often at once".utf8))
            // Another account has its own.
            #expect(try bench.touchEach(Self.enableBin, with: "two").enabled != nil)
            for _ in clients { gate.happen() }
            for client in clients { try client.send(.cancel) }
        }

        private static let enableBin = Request.serverEnable(
            ServerEnableRequest(
                account: Person.bin.bytes, server: PlayedServer.url,
                code: Bytes("00000-00000-00000-00000".utf8)))
    }
}

/// A bench that a played server asks while the test waits for the answer.
// SAFETY: one of the two threads waits for the other, so that they are never in it together.
private final class UncheckedBench: @unchecked Sendable {
    let bench: DaemonBench
    init(_ bench: DaemonBench) { self.bench = bench }
}

/// Something that happens on one thread and is awaited on another, as often as it happens.
final class DispatchedEvent: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func happen() { semaphore.signal() }

    func wait() throws { try #require(semaphore.wait(timeout: .now() + 20) == .success) }
}
