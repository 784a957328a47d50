// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Posix
import SignedFormats
import Synchronization
import TestSupport
import Testing

extension SecondDaemonTests {
    @Suite("The time of a login at a server")
    final class ServerTimeTests: VerdictFixture {
        /// What is kept of prints in a directory; files may come and go meanwhile.
        @Test("is not taken by the trial of a password, which comes when the server has said yes")
        func tried() throws {
            try #require(try fixture.give().done?.keyring == .on)
            let before = try fixture.checks()
            let path = fixture.directory + "/checked"
            let seen = Mutex(0)
            server.answering(
                yes {
                    let count = (try? Layout.read(path))?.count { $0 == 10 } ?? 0
                    seen.withLock { $0 = count }
                })
            var wish = request()
            wish.wantsKeyring = true
            let client = try fixture.client()
            #expect(try logIn(wish, client: client).assertion != nil)
            #expect(try client.confirmedPassword() == Bytes("right".utf8))
            #expect(seen.withLock { $0 } == before)
            #expect(try fixture.checks() == before + 1)
            // Nobody's password is tried for a no.
            server.answering(yes(.deny))
            #expect(try logIn(wish).reason == .serverRefused)
            #expect(try fixture.checks() == before + 1)
        }

        @Test("does not count if the machine has slept while it was asked for, however short")
        func slept() throws {
            let machine = try MachineFixture(fixture)
            defer { withExtendedLifetime(machine) {} }
            let bus = machine.bus
            let (asked, goOn) = try sayingYesLater()
            let client = try fixture.client()
            try client.send(.authenticate(request(token: .file)))
            try client.wait(for: .touch)
            try bus.awaitInhibitors(1)
            try fixture.text.send(.scan("one"))
            try asked.wait()
            #expect(try bus.sleep().isInTime)
            try fixture.awaitSleep()
            try bus.wake()
            #expect(try fixture.loginAwake(fixture.text).assertion != nil)
            goOn.happen()
            #expect(try client.last() == .denial(Denial(.suspending)))
            #expect(verdicts.isEmpty && !hasToken)
        }

        @Test("that is over before the server could be asked does not affect another login")
        func over() throws {
            let before = server.requests.count { $0.verb == .login }
            let client = try fixture.client()
            try client.send(.authenticate(request()))
            try client.wait(for: .touch)
            try fixture.passTime(29)
            try fixture.text.send(.scan("one"))
            #expect(try client.last().reason == .serverLost)
            #expect(server.requests.count { $0.verb == .login } == before)
        }
    }
}
