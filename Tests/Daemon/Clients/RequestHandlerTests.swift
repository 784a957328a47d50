// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Gate
import LoginProtocol
import MainContext
import Posix
import Sealing
import State
import TestSupport
import Testing

@testable import Daemon

@Suite("The handlers of requests", .timeLimit(.minutes(5)))
struct RequestHandlerTests {
    private let scratch: Scratch
    private let examiner = PresenceExaminer(Configuration())

    init() throws {
        MainLoop.runInBackground()
        scratch = try Scratch()
    }

    /// The daemon's parts, put together as in the daemon; nothing is started.
    @ServiceActor
    private func parts() throws -> Assembly {
        let journal = DecisionJournal(foreground: false)
        let logind = Logind(socket: scratch.at("bus"), journal: journal)
        let line = ReaderClient(
            path: scratch.at("readers"), unit: ReaderUnit(bus: logind, journal: journal)
        ) { _ in }
        let state = try StateDirectory.open(scratch.path)
        let vaults = Vaults(
            file: FileVault(host: state.host), tpm: UnusableVault(.absent("none in this test")),
            preference: .file, limit: .seconds(1), journal: journal)
        return try Assembly(
            state: state, vaults: vaults,
            readers: ReaderPool(line, ignoring: [], absence: .zero),
            inForce: SettingsInForce(Configuration()), clock: .system, journal: journal,
            logind: logind,
            admission: Admission(total: 1, perUser: 1), examiner: examiner,
            paths: Paths(verifyPassword: scratch.at("verify-password")))
    }

    /// A client that is this process.
    @ServiceActor
    private func client(of router: Router) throws -> ClientConnection {
        let ends = try PacketSocket.pair()
        let process = try examiner.client(on: ends.first.descriptor)
        let socket = PacketSocket(adopting: try ends.first.descriptor.duplicate())
        return ClientConnection(socket, process: process, service: router) { _ in }
    }

    @Test("are one for each request that begins something, and none for others")
    @ServiceActor
    func complete() throws {
        let handlers = try parts().handlers
        for request in Request.all {
            let count = handlers.count { $0.request == request }
            #expect(count == (request.rule.beginsRequest ? 1 : 0), "\(request)")
        }
        #expect(handlers.allSatisfy { handler in Request.all.contains { $0 == handler.request } })
    }

    @Test("answer: a request without one is denied")
    @ServiceActor
    func missing() async throws {
        let whole = try parts().router
        let router = Router(
            accounts: whole.accounts, admission: whole.admission,
            afterAnswers: whole.afterAnswers, clock: whole.clock,
            desktopUser: whole.desktopUser, journal: whole.journal, passwords: whole.passwords,
            recovery: whole.recovery, refusedAttempts: whole.refusedAttempts,
            templates: whole.templates, handlers: [])
        let client = try client(of: router)
        let about = Person.daemon.account
        for request: Request in [.configuration, .disable(account: about), .list(account: about)] {
            #expect(await router.answer(request, from: client) == .denial(Denial(.badRequest)))
        }
        #expect(await whole.answer(.configuration, from: client) == .done(DoneAnswer()))
    }

    /// What a handler that lists fingers says to a request.
    @ServiceActor
    private func answer(
        _ request: any DaemonRequest, about account: Posix.Account?
    ) async throws -> Answer {
        let list: @ServiceActor (ListRequest, Posix.Account, any Client) -> Answer = { _, _, _ in
            .done(DoneAnswer(prints: 1))
        }
        let client = try client(of: try parts().router)
        do throws(Denial) {
            return try await RequestHandler(list).answer(request, about: account, for: client)
        } catch { return .denial(error) }
    }

    @Test("refuse a request of another type, and one about no account")
    @ServiceActor
    func foreign() async throws {
        let account = try #require(try Posix.Account.named("daemon"))
        let request = ListRequest(account: Person.daemon.account)
        #expect(try await answer(request, about: account) == .done(DoneAnswer(prints: 1)))
        let other = StatusRequest(account: Person.daemon.account)
        #expect(try await answer(other, about: account) == .denial(Denial(.badRequest)))
        #expect(try await answer(request, about: nil) == .denial(Denial(.badRequest)))
    }
}
