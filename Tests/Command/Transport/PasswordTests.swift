// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let words = ["enable", "--account", "alice", "--password-stdin"]
private let asking: [DaemonStep] = [.receive, .send(.passwordWanted(account: alice)), .receive]
private let accepting: [DaemonStep] = asking + [.send(.done(DoneAnswer(state: .valid)))]

/// Runs the command with a text as its standard input.
private func run(_ words: [String], input: String, _ scripts: [[DaemonStep]]) throws -> Run {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe(&ends) == 0)
    defer { close(ends[0]) }
    let bytes = Array(input.utf8)
    let count = unsafe bytes.withUnsafeBytes { unsafe write(ends[1], $0.baseAddress, $0.count) }
    try #require(count == bytes.count)
    close(ends[1])
    let number = ends[0]
    return try signet(words, scripts) { $0.input = number }
}

@Suite("A password from standard input")
struct PasswordTests {
    @Test(
        "is one line, sent only on request",
        arguments: [
            ("secret\n", "secret"), ("secret", "secret"), ("a b\nrest\n", "a b"), ("\n", ""),
        ])
    func sent(input: String, password: String) throws {
        let run = try run(words, input: input, [accepting])
        #expect(run.code == .done)
        #expect(run.requests == [.enable(account: alice), .password(Bytes(password.utf8))])
        #expect(!run.output.contains("secret") && !run.errors.contains("secret"))
        let unasked = try PasswordTests.unasked()
        #expect(unasked.requests == [.enable(account: alice)])
    }

    private static func unasked() throws -> Run {
        try run(words, input: "secret\n", [answering(.done(DoneAnswer()))])
    }

    @Test("that is wrong is not tried again")
    func wrong() throws {
        let run = try run(
            words, input: "wrong\nright\n", [asking + [.send(.denial(Denial(.wrongPassword)))]])
        #expect(run.code == .wrongPassword)
        #expect(run.errors == "signet: the password was wrong\n")
        #expect(run.requests.count == 2)
    }

    @Test("that is missing or too long is not sent")
    func unsendable() throws {
        let wanting: [DaemonStep] = [.receive, .send(.passwordWanted(account: alice)), .hang]
        let empty = try run(words, input: "", [wanting])
        #expect(empty.code == .wrongPassword)
        #expect(empty.errors == "signet: no password was given\n")
        let long = String(repeating: "x", count: Limit.password + 1)
        let tooLong = try run(words, input: long + "\n", [wanting])
        #expect(tooLong.code == .wrongPassword)
        #expect(tooLong.errors == "signet: the password is too long\n")
        let longest = String(long.dropLast())
        #expect(try run(words, input: longest + "\n", [accepting]).code == .done)
    }

    @Test("is not given for another account than was asked about")
    func anotherAccount() throws {
        let run = try run(
            words, input: "secret\n",
            [[.receive, .send(.passwordWanted(account: "bob")), .hang]])
        #expect(run.code == .fault)
        #expect(
            run.errors.contains(
                "unexpectedly asked for the password of bob. The password was not sent"))
        #expect(run.requests == [.enable(account: alice)])
    }

    @Test("is needed, but there is no terminal: the message says how to give it")
    func noTerminal() throws {
        let run = try signet(
            ["enable", "--account", "alice"],
            [[.receive, .send(.passwordWanted(account: alice)), .hang]])
        #expect(run.code == .wrongPassword)
        #expect(run.errors.contains("there is no terminal. Give it with '--password-stdin'"))
    }

    @Test("may be followed by a touch in the same request")
    func touchAfterwards() throws {
        let run = try run(
            ["enroll", "left-ring", "--account", "alice", "--password-stdin"], input: "x\n",
            [
                asking + [
                    .send(.notice(Notice(.touch))),
                    .send(.done(DoneAnswer(prints: 1, state: .valid))),
                ]
            ])
        #expect(run.code == .done)
        #expect(run.output.contains("touch the reader\nleft-ring is enrolled"))
    }
}
