// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@testable import Command

@Suite("signet count")
struct CountTests {
    private let print = PrintAnswer(
        finger: .rightIndex, printID: .sample(0..<16), readerID: [1], since: 3, intact: true)

    @Test("counts the fingers, for people and for programs")
    func counts() throws {
        let script: [DaemonStep] = [
            .receive, .send(.print(print)), .send(.print(print)), .send(.done(DoneAnswer())),
        ]
        let words = ["count", "--account", "alice"]
        let run = try signet(words, [script])
        #expect(run.requests == [.list(account: "alice")])
        #expect(run.output == "fingers: 2\n")
        #expect(try signet(words + ["--json"], [script]).document("count")["fingers"] as? Int == 2)
    }

    @Test("takes no operand, and counts nothing if the daemon refuses")
    func refused() throws {
        #expect(try signet(["count", "all"], []).code == .usage)
        let denied = try signet(
            ["count", "--account", "alice"],
            [[.receive, .send(.denial(Denial(.notPermitted)))]])
        #expect(denied.output.isEmpty && denied.code != .done)
    }
}
