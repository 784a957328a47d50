// SPDX-License-Identifier: Apache-2.0
import Command
import CommandProtocol
import Foundation
import LoginProtocol
import TestSupport
import Testing

@Suite("What a change of fingers means for ssh keys")
struct SSHKeyEffectTests {
    private func listed(_ fingers: Finger..., keys: UInt32) -> [DaemonStep] {
        answering(
            fingers.map { finger in
                var print = samplePrint
                print.finger = finger
                return .print(print)
            } + [.done(DoneAnswer(prints: UInt8(fingers.count), sshKeysKept: keys))])
    }

    private func answering(_ answers: [Answer]) -> [DaemonStep] {
        [.receive] + answers.map { .send($0) }
    }

    private func output(
        _ words: [String], _ listed: [DaemonStep], _ done: DoneAnswer, uid: UInt32
    ) throws -> String {
        try signet(
            words + ["--account", "alice"], [listed] + noKeys + [answering([.done(done)])]
        ) { environment in
            environment.columns = { 80 }
            environment.uid = uid
        }.output
    }

    @Test("is said beforehand: with the password they stay, and every finger of then can use them")
    func stays() throws {
        for words in [["enroll", "left-thumb"], ["delete", "right-index"]] {
            let one = try output(
                words, listed(.rightIndex, .leftIndex, keys: 1),
                DoneAnswer(prints: 2, state: .valid, sshKeysKept: 1), uid: 1000)
            #expect(one.hasPrefix("1 ssh key stays usable after this change, by every finger"))
            #expect(one.hasSuffix("1 ssh key can be used with the fingers that are enrolled now\n"))
            let now = "can be used with the fingers that are enrolled now\n"
            let two = try output(
                words, listed(.rightIndex, .leftIndex, keys: 2),
                DoneAnswer(prints: 2, state: .valid, sshKeysKept: 2), uid: 1000)
            #expect(two.hasPrefix("2 ssh keys stay usable after this change, by every finger"))
            #expect(two.hasSuffix("2 ssh keys \(now)"))
        }
    }

    @Test("is said beforehand: root's change and that of the last finger destroy them")
    func ends() throws {
        let done = DoneAnswer(prints: 1, state: .valid, sshKeysEnded: 2)
        let root = try output(
            ["enroll", "left-thumb"], listed(.rightIndex, .leftIndex, keys: 2), done, uid: 0)
        #expect(root.hasPrefix("2 ssh keys will be destroyed by this change"))
        #expect(root.contains("2 ssh keys are destroyed: see 'signet ssh list'"))
        for words in [["delete", "right-index"], ["delete", "--all"]] {
            let last = try output(words, listed(.rightIndex, keys: 1), done, uid: 1000)
            #expect(last.hasPrefix("1 ssh key will be destroyed by this change"), "\(last)")
        }
        #expect(
            try output(
                ["delete", "--all"], listed(.rightIndex, .leftIndex, keys: 1),
                DoneAnswer(prints: 0, sshKeysEnded: 1), uid: 1000
            ).contains("1 ssh key is destroyed: see 'signet ssh list'"))
    }

    @Test("is said before an import from fprintd as well, before any file is shown")
    func imported() throws {
        let print = ImportedPrintAnswer(
            finger: .leftIndex, outcome: .imported, place: Bytes("quick/0/2".utf8))
        for (uid, start) in [
            (UInt32(1000), "1 ssh key stays usable after this change, by every finger"),
            (0, "1 ssh key will be destroyed by this change"),
        ] {
            let done = DoneAnswer(prints: 2, state: .valid, sshKeysKept: 1)
            let run = try signet(
                ["import-fprintd", "--account", "alice"],
                [listed(.rightIndex, keys: 1)] + noKeys
                    + [answering([.importedPrint(print), .done(done)])]
            ) { environment in
                environment.columns = { 80 }
                environment.uid = uid
            }
            #expect(run.output.hasPrefix(start), "\(run.output)")
            #expect(run.output.contains("1 ssh key can be used with the fingers"))
        }
        // Without a terminal, no one could still cancel it.
        let quiet = try signet(
            ["import-fprintd", "--account", "alice"],
            [answering([.importedPrint(print), .done(DoneAnswer(prints: 2, state: .valid))])])
        #expect(!quiet.output.contains("ssh key"))
    }

    @Test("is in the JSON of the change")
    func json() throws {
        let run = try signet(
            ["enroll", "left-thumb", "--account", "alice", "--json"],
            noKeys + [
                answering([.done(DoneAnswer(prints: 2, sshKeysKept: 3, sshKeysEnded: 1))])
            ])
        let document = try run.document("enrolled")
        #expect(document["sshKeysKept"] as? Int == 3 && document["sshKeysEnded"] as? Int == 1)
    }
}
