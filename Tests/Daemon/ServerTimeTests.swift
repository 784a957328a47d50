import Posix
import Statement
import Synchronization
import TestSupport
import Testing
import Wire

extension DaemonTests {
    @Suite("The time of a login at a server")
    final class ServerTimeTests: VerdictBench {
        /// What is kept of prints in a directory; files may come and go meanwhile.
        private static func prints(in directory: String) -> [String: Bytes] {
            var all: [String: Bytes] = [:]
            for name in Layout.entries(of: directory) {
                all[name] = try? Layout.read("\(directory)/\(name)")
            }
            return all
        }

        @Test("is not taken by a template that the reader has improved: that is kept behind it")
        func improved() throws {
            try bench.restart {
                try DaemonBench.write("", to: bench.text.path + ".improving")
            }
            let directory = bench.file("prints", of: .daemon)
            for request in [Request.authenticate(request()), bench.playedLogin()] {
                let before = Self.prints(in: directory)
                let seen = Mutex<[String: Bytes]>([:])
                let plain = yes()
                server.answering { request in
                    guard case .login = request else { return nil }
                    seen.withLock { $0 = Self.prints(in: directory) }
                    return plain(request)
                }
                let person: Person = if case .authenticate = request { .root } else { .daemon }
                let client = try bench.client(person)
                let answer = try bench.touchEach(request, with: "one", client: client)
                if case .authenticate = request { _ = try client.confirm() }
                #expect(answer.assertion?.server != nil || answer.token != nil, "\(answer)")
                #expect(seen.withLock { $0 } == before && before.count == 1)
                let end = ContinuousClock.now + .seconds(20)
                while Self.prints(in: directory) == before {
                    try #require(ContinuousClock.now < end)
                    _ = try bench.status(of: .daemon)
                }
            }
            // Whatever is sealed to the fingers fits the better template, too.
            #expect(try logIn().assertion?.server != nil)
            #expect(try bench.login(.daemon, with: "one").assertion != nil)
            #expect(try bench.servers() == [.good])
        }

        @Test("is not taken by the trial of a password, which comes when the server has said yes")
        func tried() throws {
            try #require(try bench.give().done?.keyring == .on)
            let before = try bench.checks()
            let path = bench.directory + "/checked"
            let seen = Mutex(0)
            server.answering(
                yes {
                    let count = (try? Layout.read(path))?.count { $0 == 10 } ?? 0
                    seen.withLock { $0 = count }
                })
            var wish = request()
            wish.wantsKeyring = true
            let client = try bench.client()
            #expect(try logIn(wish, client: client).assertion != nil)
            #expect(try client.confirmedPassword() == Bytes("right".utf8))
            #expect(seen.withLock { $0 } == before)
            #expect(try bench.checks() == before + 1)
            // Nobody's password is tried for a no.
            server.answering(yes(.deny))
            #expect(try logIn(wish).reason == .serverRefused)
            #expect(try bench.checks() == before + 1)
        }

        @Test("is none where the machine has slept while it was asked for, however short")
        func slept() throws {
            let machine = try Machine(bench)
            defer { withExtendedLifetime(machine) {} }
            let bus = machine.bus
            let (asked, goOn) = try sayingYesLater()
            let client = try bench.client()
            try client.send(.authenticate(request(token: .file)))
            try client.wait(for: .touch)
            try bus.awaitInhibitors(1)
            try bench.text.send(.scan("one"))
            try asked.wait()
            #expect(try bus.sleep().isInTime)
            try bench.awaitSleep()
            try bus.wake()
            #expect(try bench.loginAwake(bench.text).assertion != nil)
            goOn.happen()
            #expect(try client.last() == .denial(Denial(.suspending)))
            #expect(verdicts.isEmpty && !hasToken)
        }

        @Test("that is over before the server could be asked is no other login's fault")
        func over() throws {
            let before = server.requests.count { $0.verb == .login }
            let client = try bench.client()
            try client.send(.authenticate(request()))
            try client.wait(for: .touch)
            try bench.passTime(29)
            try bench.text.send(.scan("one"))
            #expect(try client.last().reason == .serverLost)
            #expect(server.requests.count { $0.verb == .login } == before)
        }
    }
}
