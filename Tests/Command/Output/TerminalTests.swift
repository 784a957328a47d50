// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let asking: [DaemonStep] = [.receive, .send(.passwordWanted(account: alice)), .receive]
private let denying: [DaemonStep] = asking + [.send(.denial(Denial(.wrongPassword)))]
private let touching: [DaemonStep] = [.receive, .send(.notice(Notice(.touch)))]

/// Where it was built, which a fixture shows too: a copy could be busy while another test forks.
private let program = "\(Layout.products)/signet"

/// The built program in a fixture, with a fake daemon where the real one would listen.
private struct Desk {
    let host: HostFixture
    let daemon: FakeDaemon

    init(_ scripts: [[DaemonStep]]) throws {
        host = try HostFixture()
        try host.run(["mkdir", "-p", "-m", "755", "/run/signet"])
        daemon = try FakeDaemon(at: host.path("/run/signet/signetd.sock"), scripts)
    }

    func terminal(_ words: String...) throws -> Terminal {
        try host.terminal([program] + words, as: HostFixture.alice)
    }
}

@Suite("signet on a terminal")
struct TerminalTests {
    @Test("a password is typed invisibly, three times at most")
    func password() throws {
        let accepting = asking + [.send(.done(DoneAnswer(state: .valid)))]
        let desk = try Desk([denying, denying, accepting])
        let terminal = try desk.terminal("enable")
        for word in ["wrong one", "wrong two", HostFixture.alice.password] {
            try terminal.expect("Password of alice: ")
            #expect(try terminal.mode().echoes == false)
            try terminal.sendLine(word)
        }
        try terminal.expect("key of alice is ready")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains("wrong one"))
        #expect(!terminal.transcript.contains(HostFixture.alice.password))
        let passwords = ["wrong one", "wrong two", HostFixture.alice.password]
        #expect(
            try desk.daemon.requests()
                == passwords.flatMap { [.enable(account: alice), .password(Bytes($0.utf8))] })
    }

    @Test("what a change ends is said once, however often the password is tried, unless it differs")
    func foretold() throws {
        func told(_ effects: ChangeEffectAnswer...) -> [DaemonStep] {
            [.receive] + effects.map { .send(.of($0)) } + [
                .send(.of(ChangeForecastAnswer())), .send(.passwordWanted(account: alice)),
                .receive,
            ]
        }
        let denied: [DaemonStep] = [.send(.denial(Denial(.wrongPassword)))]
        let signing = ChangeEffectAnswer("signingKey")
        let desk = try Desk([
            told(signing) + denied, told(signing) + denied,
            told(signing, ChangeEffectAnswer("secret", count: 1)) + [
                .send(.done(DoneAnswer(prints: 1, state: .valid)))
            ],
        ])
        let terminal = try desk.terminal("delete", "left-thumb")
        for word in ["wrong one", "wrong two", HostFixture.alice.password] {
            try terminal.expect("Password of alice: ")
            try terminal.sendLine(word)
        }
        #expect(try terminal.expectEnd() == .exited(0))
        let transcript = terminal.transcript
        #expect(transcript.ranges(of: "this change ends the signing key").count == 2)
        #expect(transcript.ranges(of: "1 secret is sealed").count == 1)
    }

    @Test("after the third wrong password it ends with 5, and the echo is back")
    func tries() throws {
        let desk = try Desk([denying, denying, denying])
        let terminal = try desk.terminal("enable")
        for _ in 0..<3 {
            try terminal.expect("Password of alice: ")
            try terminal.sendLine("wrong")
        }
        try terminal.expect("the password was wrong\r\n")
        #expect(try terminal.expectEnd() == .exited(5))
    }

    @Test("^C at the password restores the terminal and ends with 130, and nothing is sent")
    func interruptedPassword() throws {
        let desk = try Desk([[.receive, .send(.passwordWanted(account: alice)), .receive]])
        let shell = try desk.host.terminal(
            ["sh", "-c", "trap : INT; \(program) enable; echo ended $?; read line"],
            as: HostFixture.alice)
        try shell.expect("Password of alice: ")
        try shell.send("half")
        try shell.control(.c)
        try shell.expect("ended 130")
        #expect(try shell.mode().echoes)
        #expect(try shell.mode().isCanonical)
        try shell.sendLine("")
        #expect(try shell.expectEnd() == .exited(0))
        #expect(!shell.transcript.contains("half"))
    }

    @Test("an enrolment draws a bar in one line, once it is known whose finger it is")
    func bar() throws {
        let stages = (1...5).map { DaemonStep.send(.notice(Notice(.stage, done: $0, total: 5))) }
        let done = Answer.done(DoneAnswer(finger: .leftRing, prints: 1, state: .valid))
        let wanted = DaemonStep.send(.notice(Notice(.touch, total: 5)))
        let desk = try Desk([touching + [wanted] + stages + [.send(done)]])
        let terminal = try desk.terminal("enroll", "left-ring")
        #expect(try terminal.expect("touch the reader").contains("of 5") == false)
        try terminal.expect("[.....] 0 of 5  touch the reader")
        try terminal.expect("[#....] 1 of 5  touch the reader")
        try terminal.expect("[#####] 5 of 5  touch the reader")
        try terminal.expect("left-ring is enrolled for alice: 1 finger in total\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("^C during an enrolment takes it back and waits for its end")
    func interruptedTouch() throws {
        let desk = try Desk(
            [touching + [.receive, .send(.denial(Denial(.cancelled)))]])
        let terminal = try desk.terminal("enroll", "left-ring")
        try terminal.expect("touch the reader")
        try terminal.control(.c)
        try terminal.expect("cancelled: nothing was changed")
        #expect(try terminal.expectEnd() == .exited(130))
        #expect(
            try desk.daemon.requests()
                == [
                    .enroll(account: alice, finger: .leftRing, readerID: nil), .cancel,
                ])
    }

    @Test("^C that comes too late says what was done")
    func lateInterrupt() throws {
        let done = DaemonStep.send(.done(DoneAnswer(finger: .leftRing, prints: 1, state: .valid)))
        let desk = try Desk([touching + [.receive, done]])
        let terminal = try desk.terminal("enroll", "left-ring")
        try terminal.expect("touch the reader")
        try terminal.control(.c)
        try terminal.expect("left-ring is enrolled for alice")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("no variable of the environment sends it to another socket")
    func environment() throws {
        let host = try HostFixture()
        // A connection to this would be refused for another reason.
        try host.write("/tmp/x", "")
        let outcome = try host.run(
            [program, "list"], as: HostFixture.alice,
            environment: ["SIGNET_SOCKET": "/tmp/x", "SIGNETD_SOCKET": "/tmp/x"])
        #expect(outcome.ending == .exited(3))
        #expect(
            outcome.errors.contains("the fingerprint service cannot be reached: No such file"))
    }
}
