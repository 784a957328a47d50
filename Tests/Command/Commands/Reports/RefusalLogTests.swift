// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

/// Two receipts of 17:24:00 UTC, and refusals around them.
private func sample(_ refusals: [Refusal], receipts: Int = 2) throws -> [DaemonStep] {
    var script = try SampleLog(count: receipts).script
    script.insert(contentsOf: refusals.map { .send(.refusal($0)) }, at: 2)
    return script
}

private let moment: UInt64 = 1_795_195_440

private func refusal(
    _ verb: Verb = AuthenticateRequest.verb, by requester: String = "daemon",
    _ reason: DenialReason,
    at: UInt64
) -> Refusal {
    Refusal(
        verb, service: verb == AuthenticateRequest.verb ? "sudo" : .none,
        terminal: verb == AuthenticateRequest.verb ? Bytes("/dev/pts/3".utf8) : [],
        requester: AccountName(requester), reason: reason, since: at, until: at)
}

@Suite("signet log, of refused attempts")
struct RefusalLogTests {
    private func run(_ script: [DaemonStep], _ options: String...) throws -> Run {
        try signet(["log", "--account", "daemon"] + options, [script])
    }

    @Test("shows them between the receipts, in order of time")
    func order() throws {
        var often = refusal(AuthenticateRequest.verb, .noMatch, at: moment + 60)
        often.count = 3
        often.since = moment - 3_600
        let run = try run(
            try sample([
                refusal(VerifyRequest.verb, .lockedForNow, at: moment - 60),
                refusal(by: "mallory\u{1B}", .notPermitted, at: moment + 1), often,
                refusal(ConfirmRequest.verb, .answerTooLate, at: moment + 61),
                refusal(SecretGetRequest.verb, .lidClosed, at: moment + 62),
            ]))
        #expect(run.code == .done)
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(
            lines.map { $0.prefix(2) } == ["- ", "#1", "#3", "- ", "- ", "- ", "- "],
            "\(run.output)")
        #expect(
            lines[0] == "- 2026-11-20 17:23:00Z signet verify refused: "
                + "too many failed scans")
        #expect(
            lines[3] == "- 2026-11-20 17:24:01Z sudo pts/3 refused: "
                + "only daemon may ask for this, asked by mallory\\x1b")
        #expect(
            lines[4] == "- 2026-11-20 17:25:00Z sudo pts/3 refused: "
                + "the finger did not match, 3 times since 2026-11-20 16:24:00Z")
        #expect(lines[5].contains("Z login refused: the touch was not confirmed in time"))
        #expect(lines[6].contains("Z signet secret get refused: the lid was closed"))
    }

    @Test("shows them even if there are no receipts yet")
    func alone() throws {
        let run = try run(
            try sample([refusal(AuthenticateRequest.verb, .noMatch, at: moment)], receipts: 0))
        #expect(run.code == .done)
        #expect(
            run.output
                == "- 2026-11-20 17:24:00Z sudo pts/3 refused: the finger did not match\n")
    }

    @Test("shows programs all of them")
    func document() throws {
        let run = try run(
            try sample([refusal(by: "bob", .otherRequester, at: moment)]), "--json")
        let document = try run.document("log")
        let found = try #require(document["refusals"] as? [[String: Any]])
        #expect(found.count == 1 && (document["receipts"] as? [Any])?.count == 2)
        let expected = [
            "reason": "other-requester", "service": "sudo", "terminal": "/dev/pts/3",
            "requester": "bob", "since": "2026-11-20T17:24:00Z", "until": "2026-11-20T17:24:00Z",
        ]
        for (name, value) in expected { #expect(found[0][name] as? String == value, "\(name)") }
        #expect(found[0]["count"] as? Int == 1)
    }

    @Test("--verify and --signers are about receipts alone")
    func verify() throws {
        let script = try sample([refusal(AuthenticateRequest.verb, .noMatch, at: moment)])
        let check = try run(script, "--verify")
        #expect(check.code == .done)
        #expect(check.output == "2 receipts: all signatures are valid, and nothing is missing\n")
        #expect(try run(script, "--signers").output.split(separator: "\n").count == 1)
    }
}
