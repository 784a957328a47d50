// SPDX-License-Identifier: Apache-2.0
import Command
import CommandProtocol
import Foundation
import LoginProtocol
import TestSupport
import Testing

@Suite("What a change of fingers means for ssh keys")
struct SSHKeyEffectTests {
    private func foretold(_ keys: UInt32, stays: Bool) -> [Answer] {
        [
            .of(ChangeEffectAnswer("sshKey", count: keys, stays: stays)),
            .of(ChangeForecastAnswer()),
        ]
    }

    private func answering(_ answers: [Answer]) -> [DaemonStep] {
        [.receive] + answers.map { .send($0) }
    }

    private func output(
        _ words: [String], _ foretold: [Answer], _ done: DoneAnswer
    ) throws -> String {
        try signet(
            words + ["--account", "alice"], [answering(foretold + [.done(done)])]
        ) { $0.columns = { 80 } }.output
    }

    @Test("is said beforehand: with the password they stay, and every finger of then can use them")
    func stays() throws {
        for words in [["enroll", "left-thumb"], ["delete", "right-index"]] {
            let one = try output(
                words, foretold(1, stays: true),
                DoneAnswer(prints: 2, state: .valid, sshKeysKept: 1))
            #expect(one.hasPrefix("1 ssh key stays usable after this change, by every finger"))
            #expect(one.hasSuffix("1 ssh key can be used with the fingers that are enrolled now\n"))
            let now = "can be used with the fingers that are enrolled now\n"
            let two = try output(
                words, foretold(2, stays: true),
                DoneAnswer(prints: 2, state: .valid, sshKeysKept: 2))
            #expect(two.hasPrefix("2 ssh keys stay usable after this change, by every finger"))
            #expect(two.hasSuffix("2 ssh keys \(now)"))
        }
    }

    @Test("is said beforehand where the change destroys them")
    func ends() throws {
        let two = try output(
            ["enroll", "left-thumb"], foretold(2, stays: false),
            DoneAnswer(prints: 1, state: .valid, sshKeysEnded: 2))
        #expect(two.hasPrefix("2 ssh keys will be destroyed by this change"))
        #expect(two.contains("2 ssh keys are destroyed: see 'signet ssh list'"))
        let one = try output(
            ["delete", "--all"], foretold(1, stays: false),
            DoneAnswer(prints: 0, sshKeysEnded: 1))
        #expect(one.hasPrefix("1 ssh key will be destroyed by this change"), "\(one)")
        #expect(one.contains("1 ssh key is destroyed: see 'signet ssh list'"))
    }

    @Test("is said before an import from fprintd as well, before any file is shown")
    func imported() throws {
        let print = ImportedPrintAnswer(
            finger: .leftIndex, outcome: .imported, place: Bytes("quick/0/2".utf8))
        let answers =
            foretold(1, stays: true) + [
                .importedPrint(print), .done(DoneAnswer(prints: 2, state: .valid, sshKeysKept: 1)),
            ]
        let words = ["import-fprintd", "--account", "alice"]
        let run = try signet(words, [answering(answers)]) { $0.columns = { 80 } }
        #expect(run.output.hasPrefix("1 ssh key stays usable after this change, by every finger"))
        #expect(run.output.contains("1 ssh key can be used with the fingers"))
        // Without a terminal, no one could still cancel it.
        let quiet = try signet(words, [answering(answers)])
        #expect(!quiet.output.contains("stays usable"))
    }

    @Test("is in the JSON of the change")
    func json() throws {
        let run = try signet(
            ["enroll", "left-thumb", "--account", "alice", "--json"],
            [
                answering([.done(DoneAnswer(prints: 2, sshKeysKept: 3, sshKeysEnded: 1))])
            ])
        let document = try run.document("enrolled")
        #expect(document["sshKeysKept"] as? Int == 3 && document["sshKeysEnded"] as? Int == 1)
    }
}
