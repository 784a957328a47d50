// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a TPM that takes its time") struct SlowTPMTests {
        private static let name = Person.daemon.account
        private let bus: TPMInterposer

        init() throws { bus = try TPMInterposer(try SoftwareTPM()) }

        /// A daemon with one finger enrolled, which has not used its TPM since it started.
        private func fixture(limit: Int = 3) throws -> DaemonFixture {
            let fixture = try DaemonFixture.onTPM(bus.tcti, kind: "tpm", limit: limit)
            try fixture.restart()
            bus.forget()
            return fixture
        }

        /// What opens one sealed object: a connection, the pinned root key, and a session each for the
        /// command and for the object. The kernel's resource manager needs the first two less.
        private static let connecting: [TPMCommandCode] = [
            .getCapability, .getCapability, .readPublic,
        ]
        private static let readying: [TPMCommandCode] = [
            .startAuthSession, .load, .startAuthSession, .policyAuthValue,
        ]

        /// Waits until these commands have been answered since the last time, and no others; the
        /// connection is still there if the daemon has not rested yet.
        private func expect(_ codes: [TPMCommandCode], connected: Bool = true) throws {
            let all = Self.connecting + codes
            try bus.first("\(codes)") { exchanges in
                let sent = exchanges.map(\.code)
                let isAll = sent == all || (connected && sent == codes)
                return isAll && exchanges.last?.answer != nil ? () : nil
            }
            bus.forget()
        }

        @Test("is sent a few commands for a touch, and one between the touch and the signature")
        func touch() throws {
            let fixture = try fixture()
            // The first touch opens the stored prints before it, and the key during it.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try expect(
                Self.readying + [.unseal, .flushContext] + Self.readying + [.sign, .flushContext],
                connected: false)
            // The prints are open now: nothing comes before the prompt.
            for challenge in 2...3 as ClosedRange<UInt8> {
                #expect(
                    try fixture.login(.daemon, with: "one", challenge: challenge).assertion != nil)
                try expect(Self.readying + [.sign, .flushContext])
            }
        }

        @Test("is sent a few commands for an enrolment")
        func enrolment() throws {
            let fixture = try fixture()
            // Opens the prints, which the new finger is compared with, and makes a key.
            #expect(try fixture.enrol(.daemon, as: "two").done != nil)
            try expect(
                Self.readying + [.unseal, .flushContext, .startAuthSession, .create],
                connected: false)
            // The prints are open now. A daemon that rested in between has looked for what it left
            // in the TPM, and connects again.
            #expect(try fixture.enrol(.daemon, as: "three").done != nil)
            let codes = bus.exchanges.map(\.code)
            let rested = Array(codes.prefix { $0 == .getCapability || $0 == .readPublic })
            #expect(rested.isEmpty || rested.count { $0 == .readPublic } == 1, "\(rested)")
            #expect(Array(codes.dropFirst(rested.count).prefix(2)) == [.startAuthSession, .create])
        }

        @Test("is sent a few commands for the first enrolment of a machine")
        func firstEnrolment() throws {
            let fixture = try DaemonFixture.onTPM(bus.tcti, kind: "tpm", enrolled: false)
            bus.forget()
            #expect(try fixture.enrol(.daemon, as: "one").done?.state == .valid)
            // A root key that stays, a key for the stored fingerprints, and the login's.
            #expect(
                Array(bus.exchanges.map(\.code).prefix(13))
                    == [
                        .getCapability, .getCapability, .readPublic, .startAuthSession,
                        .createPrimary, .evictControl, .flushContext, .flushContext, .readPublic,
                        .startAuthSession, .create, .startAuthSession, .create,
                    ])
        }

        @Test("is waited for by a report, which then says what a login would be told")
        func report() throws {
            let fixture = try fixture()
            bus.delay(.seconds(1))
            let status = try fixture.status(of: .daemon)
            #expect(status.refusal == nil && !status.readersUnknown && status.prints == 1)
            #expect(bus.exchanges.count > 4, "as long as a login may take")
        }

        @Test("serves a login, though all commands together take longer than one may")
        func slow() throws {
            let fixture = try fixture()
            bus.delay(.seconds(1))
            let client = try fixture.client()
            try client.send(.login(.daemon, challenge: 1, tries: 1))
            try client.wait(for: .touch)
            #expect(client.heard.contains { $0.notice?.kind == .tpm }, "the prints were closed")
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
            // The key was not ready yet, and the user is told what is awaited after the touch.
            #expect(client.heard.count { $0.notice?.kind == .tpm } == 2)
            // The next prompt does not wait for the TPM.
            let next = try fixture.client()
            try next.send(.login(.daemon, challenge: 2, tries: 1))
            try next.wait(for: .touch)
            #expect(!next.heard.contains { $0.notice?.kind == .tpm })
            try fixture.text.send(.scan("one"))
            #expect(try next.last().assertion != nil)
        }

        @Test("serves a login at a server, though both signatures take longer than the user has")
        func atServer() throws {
            let played = try VerdictFixture(on: fixture())
            bus.delay(.seconds(1))
            let begun = bus.exchanges.count
            let answer = try played.logIn(played.request(milliseconds: 10_000))
            #expect(answer.assertion?.server != nil, "\(answer)")
            #expect(bus.exchanges.count - begun > 10)
        }

        @Test("enrols, enables and moves keys, though each command takes a quarter of a second")
        func administration() throws {
            let fixture = try fixture(limit: 1)
            bus.delay(.milliseconds(250))
            #expect(try fixture.enrol(.daemon, as: "two").done?.state == .valid)
            #expect(try fixture.ask(.enable(account: Self.name)).done?.state == .valid)
            #expect(try fixture.login(.daemon, with: "two").assertion != nil)
            #expect(try fixture.status(of: .daemon).vault == Bytes("tpm".utf8))
        }

        @Test("that does not answer gets no key made in a file in its place")
        func notInFile() throws {
            let fixture = try DaemonFixture.onTPM(bus.tcti, kind: "auto", limit: 1)
            #expect(try fixture.status(of: .daemon).vault == Bytes("tpm".utf8))
            // The prints are open, and the key is what is made.
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            bus.setRule(at: .command) { $0.code == .create ? .stall : .pass }
            // The second time, it is known that the TPM has not answered yet.
            for _ in 0..<2 {
                #expect(try fixture.enrol(.daemon, as: "two").reason == .vaultUnavailable)
            }
            bus.removeRules()
            try fixture.restart()
            let status = try fixture.status(of: .daemon)
            #expect(status.vault == Bytes("tpm".utf8) && status.prints == 1)
        }

        @Test("is waited for by a daemon that is told to stop, so that an enrolment is not lost")
        func stopped() throws {
            let tpm = try HeldTPM()
            let fixture = try DaemonFixture([.text], configuration: tpm.configuration)
            try fixture.enrol(.daemon, as: "one")
            tpm.stop { $0.code == .create }
            let client = try fixture.client()
            try client.send(.enroll(account: Self.name, finger: .leftIndex, readerID: nil))
            try client.wait(for: .touch)
            for _ in 0..<5 { try fixture.text.send(.scan("two")) }
            try tpm.awaitStop()
            fixture.program.signal(SIGTERM)
            // Longer than a daemon that stops waits for anything but its TPM and servers.
            #expect(throws: TestFault.self) { try fixture.program.expectEnd(within: .seconds(5)) }
            tpm.goOn()
            #expect(try client.last().done?.state == .valid)
            #expect(try fixture.program.expectEnd().succeeded)
            try fixture.restart()
            #expect(try fixture.status(of: .daemon).prints == 2)
        }

        @Test("that stops answering ends a login after the limit, and harms nothing")
        func hangs() throws {
            let fixture = try fixture(limit: 1)
            let stalled: [TPMCommandCode] = [.load, .unseal, .sign]
            for code in stalled {
                bus.setRule(at: .command) { $0.code == code ? .stall : .pass }
                let client = try fixture.client()
                try client.send(.login(.daemon, challenge: 1, tries: 1))
                // Before the touch, or after it.
                while let answer = try client.next(), answer.notice != nil {
                    if answer.notice?.kind == .touch { try fixture.text.send(.scan("one")) }
                }
                let isAfterTouch = code == .sign
                #expect(
                    client.heard.last?.reason
                        == (isAfterTouch ? .vaultUnavailable : .fingersClosed),
                    "\(code)")
                bus.removeRules()
                try fixture.restart()
                #expect(try fixture.login(.daemon, with: "one").assertion != nil, "\(code)")
                try fixture.restart()
            }
        }
    }
}
