// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"

@Suite("When the daemon says no, or is not as it should be")
struct DaemonFaultTests {
    @Test("each denial is reported, with its exit code", arguments: DenialReason.allCases)
    func denials(reason: DenialReason) throws {
        let denial = Denial(reason, seconds: 9, subject: Bytes("x\n".utf8), finger: .leftRing)
        let script: [DaemonStep] = [.receive, .send(.denial(denial))]
        let words = ["list", "--account", "alice"]
        let scripts = reason == .wrongPassword ? [script, script, script] : [script]
        let run = try signet(words, scripts)
        let text = String(decoding: denial.text(account: alice).bytes, as: UTF8.self)
        #expect(run.errors.hasSuffix("signet: \(text)\n"))
        #expect(run.code == expectedCode(reason))
        let document = try signet(words + ["--json"], scripts).document("error")
        #expect(document["text"] as? String == text)
        #expect(document["exitCode"] as? Int == Int(expectedCode(reason).rawValue))
    }

    private func expectedCode(_ reason: DenialReason) -> ExitCode {
        switch reason {
        case .wrongPassword, .noPassword: .wrongPassword
        case .vaultUnavailable, .fingersClosed, .passwordCheckFailed, .storage, .readerFailed,
            .readerConfused,
            .badRequest:
            .fault
        case .tooManyRequests, .stopping, .suspending, .serverUnreachable, .serverTooLongAgo,
            .serverLost, .serverBusy, .clockSetBack:
            .noService
        default: .denied
        }
    }

    @Test("each reason has its own name in JSON")
    func reasons() throws {
        let script: [DaemonStep] = [.receive, .send(.denial(Denial(.lockedUntilPassword)))]
        let run = try signet(["verify", "--account", "a", "--json"], [script])
        #expect(try run.document("error")["reason"] as? String == "locked-until-password")
    }

    @Test("a missing daemon is reported, with what to do")
    func absent() throws {
        let run = try signet(["status", "--account", "alice"])
        #expect(run.code == .noService)
        #expect(run.errors.contains("cannot be reached"))
        #expect(run.errors.contains("systemctl status signetd.socket"))
    }

    @Test("a socket that is not root's is not used")
    func foreign() throws {
        let run = try signet(["list", "--account", "alice"], [[.receive]]) {
            $0.daemonUID = 12_345
        }
        #expect(run.code == .noService)
        #expect(run.errors.contains("belongs to uid 0, not to root"))
        #expect(run.requests == [])
    }

    @Test("one that says nothing is left after its time")
    func silent() throws {
        for words in [
            ["status"], ["list"], ["enable"], ["log"], ["verify"], ["enroll", "left-ring"],
        ] {
            let run = try signet(words + ["--account", "alice"], [[.receive, .hang]]) {
                $0.answerLimit = .milliseconds(50)
            }
            #expect(run.code == .noService)
            #expect(run.errors.contains("does not answer"))
        }
    }

    @Test("one that takes its time is waited for, and the user is told")
    func late() throws {
        let run = try signet(["list", "--account", "alice"], [[.receive, .hang]]) {
            $0.answerLimit = .seconds(4)
        }
        #expect(run.code == .noService)
        #expect(
            run.errors.contains("has not answered yet") && run.errors.contains("does not answer"))
    }

    @Test("one that stops in the middle of a list is left after its time")
    func silentLater() throws {
        let print = PrintAnswer(
            finger: .leftRing, printID: .sample(0..<16), readerID: [], since: nil, intact: true)
        let run = try signet(
            ["list", "--account", "alice"], [[.receive, .send(.print(print)), .hang]]
        ) { $0.answerLimit = .milliseconds(50) }
        #expect(run.code == .noService)
        #expect(run.output == "")
    }

    @Test("a notice does not let a request that needs no touch wait for longer")
    func silentAfterNotice() throws {
        let waiting = DaemonStep.send(.notice(Notice(.waiting, subject: Bytes("bob".utf8))))
        let run = try signet(
            ["enable", "--account", "alice"], [[.receive, waiting, .hang]]
        ) { $0.answerLimit = .milliseconds(50) }
        #expect(run.code == .noService)
    }

    @Test("word of the TPM is passed on once, also where no touch is needed")
    func slowTPM() throws {
        let word = DaemonStep.send(.notice(Notice(.tpm)))
        let done = DaemonStep.send(.done(DoneAnswer()))
        for words in [["enable"], ["disable"], ["list"]] {
            let run = try signet(
                words + ["--account", "alice"], [[.receive, word, word, done]])
            #expect(run.code == .done)
            #expect(run.errors.ranges(of: "waiting for the TPM").count == 1)
        }
    }

    @Test(
        "a connection that is closed early is reported",
        arguments: [[], [.receive]] as [[DaemonStep]])
    func closed(script: [DaemonStep]) throws {
        let run = try signet(["list", "--account", "alice"], [script])
        #expect(run.code == .noService)
        #expect(run.errors.contains("closed the connection"))
    }

    @Test(
        "a frame that is malformed is a fault",
        arguments: [
            [0], [1], [1, 132, 0], [2, 132], [1, 8], [1, 200], [1, 134, 11, 0, 1, 99],
        ] as [Bytes])
    func malformed(packet: Bytes) throws {
        let run = try signet(["list", "--account", "alice"], [[.receive, .sendRaw(packet)]])
        #expect(run.code == .fault)
        #expect(run.errors.contains("was not understood"))
    }

    @Test("a packet over the cap is a fault")
    func overCap() throws {
        let packet = Bytes(repeating: 1, count: Frame.maximumLength + 1)
        let run = try signet(["list", "--account", "alice"], [[.receive, .sendRaw(packet)]])
        #expect(run.code == .fault)
        #expect(run.errors.contains("was not understood"))
    }

    @Test(
        "an answer to something else is a fault",
        arguments: ["status", "list", "readers", "log", "config", "verify", "enable"])
    func unexpected(action: String) throws {
        let named = action == "readers" || action == "config" ? [] : ["--account", "alice"]
        let assertion = Answer.assertion(Assertion(statement: [1], signature: [2]))
        let run = try signet([action] + named, [[.receive, .send(assertion)]])
        #expect(run.code == .fault)
        #expect(run.errors.contains("answer does not match the request"))
    }

    @Test("the status of another account is a fault")
    func anotherStatus() throws {
        var status = sampleStatus
        status.account = "bob"
        let run = try signet(
            ["status", "--account", "alice"], [[.receive, .send(.status(status))]])
        #expect(run.code == .fault)
    }
}
