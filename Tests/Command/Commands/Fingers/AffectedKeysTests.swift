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

private let listed = fingers(.leftThumb)
private let changed = answering(.done(DoneAnswer(finger: .leftThumb, prints: 1, state: .valid)))
private let words = [["enroll", "left-thumb"], ["delete", "left-thumb"]]

private func fingers(_ finger: Finger) -> [DaemonStep] {
    var print = samplePrint
    print.finger = finger
    return answering(.print(print), .done(DoneAnswer(prints: 1)))
}

private func token(_ name: String, of server: ServerURL = sampleServer.server) -> Answer {
    .macToken(
        MACTokenAnswer(
            since: 1_795_195_440, server: server, expires: 1_800_000_000, name: Bytes(name.utf8),
            token: .sample(repeating: 0xAB)))
}

/// What the daemon reports about an account with keys for others.
private let keys: [[DaemonStep]] = {
    var ended = sampleServer
    ended.server = "https://old.example"
    ended.state = .invalidated
    var leaving = ended
    leaving.state = .removing
    return [
        answering(.server(sampleServer), .server(ended), .server(leaving), .done(DoneAnswer())),
        answering(
            token("ci"), token("signet-operations"), token("web"), token("old", of: ended.server),
            .done(DoneAnswer())),
        answering(.signingKey(sampleSigningKey)),
    ]
}()

@Suite("What a change of fingers ends besides secrets")
struct EndingsTests {
    private static let warnings = """
        after this change you will have to register at https://id.example again: have a new \
        activation code ready for 'signet enable --server https://id.example'
        this change ends these MAC tokens of https://id.example: ci, web
        this change ends the signing key: afterwards, you will have to create another one \
        and distribute its public key

        """
    private static let ended = """
        the registration at https://id.example has ended: run 'signet enable --server \
        https://id.example' with a new activation code
        these MAC tokens of https://id.example have ended: ci, web. Run 'signet mac-token \
        add https://id.example NAME' after you have registered there again
        the signing key has ended: run 'signet enable --signing', and distribute the public \
        key that 'signet sign --public-key' then shows. Existing signatures remain valid

        """

    @Test(
        "is announced on a terminal before the change, and reported after it with what to do",
        arguments: words)
    func terminal(words: [String]) throws {
        // On which reader the finger would be from then on.
        let readers = words[0] == "enroll" ? [answering(.denial(Denial(.noReader)))] : []
        let run = try signet(
            words + ["--account", "alice"], [listed] + keys + readers + [changed]
        ) {
            $0.columns = { 80 }
        }
        #expect(run.code == .done)
        #expect(run.output.hasPrefix(Self.warnings), "\(run.output)")
        #expect(run.output.hasSuffix(Self.ended), "\(run.output)")
        #expect(!run.output.contains("old") && !run.output.contains("signet-operations"))
    }

    @Test("is not mentioned for a finger that is not enrolled")
    func nothingThere() throws {
        let refusal = answering(.denial(Denial(.unknownFinger, finger: .leftThumb)))
        let words = ["delete", "left-thumb", "--account", "alice"]
        let run = try signet(words, [fingers(.rightIndex)] + keys + [refusal]) {
            $0.columns = { 80 }
        }
        #expect(run.code == .denied && run.output == "", "\(run.output)")
    }

    @Test("is reported only after the change without a terminal, and to programs", arguments: words)
    func elsewhere(words: [String]) throws {
        let run = try signet(words + ["--account", "alice"], keys + [changed])
        #expect(!run.output.contains("this change") && run.output.hasSuffix(Self.ended))
        let json = try signet(words + ["--account", "alice", "--json"], keys + [changed])
        let document = try json.document(words[0] == "enroll" ? "enrolled" : "deleted")
        #expect(document["serversEnded"] as? [String] == ["https://id.example"])
        #expect(document["macTokensEnded"] as? Int == 2)
        #expect(document["signingEnded"] as? Bool == true)
    }

    @Test("is not said to have ended where the change was refused", arguments: words)
    func refused(words: [String]) throws {
        let denied = answering(.denial(Denial(.unknownFinger)))
        let run = try signet(words + ["--account", "alice"], keys + [denied])
        #expect(run.code == .denied && !run.output.contains("ended"))
    }

    @Test("is empty if there are no keys, or none opens", arguments: words)
    func none(words: [String]) throws {
        var signing = sampleSigningKey
        signing.state = .invalidated
        var server = sampleServer
        server.state = .invalidated
        let gone = [
            answering(.server(server), .done(DoneAnswer())), answering(.signingKey(signing)),
        ]
        for keys in [noKeys, gone] {
            let run = try signet(words + ["--account", "alice"], keys + [changed])
            #expect(run.code == .done && !run.output.contains("ended"))
        }
    }

    @Test(
        "does not prevent a change if the daemon cannot say what would end",
        arguments: [
            answering(.denial(Denial(.fingersClosed))), [.receive], [],
            [.receive, .sendRaw([1, 200])], [.receive, .hang],
        ] as [[DaemonStep]])
    func untold(script: [DaemonStep]) throws {
        for words in words {
            let run = try signet(words + ["--account", "alice"], [script, changed]) {
                $0.answerLimit = .milliseconds(200)
            }
            #expect(run.code == .done && run.errors == "", "\(run.errors)")
            #expect(!run.output.contains("ended"))
        }
        let delete = try signet(
            ["delete", "left-thumb", "--account", "alice"], [script, script, changed]
        ) {
            $0.columns = { 80 }
            $0.answerLimit = .milliseconds(200)
        }
        #expect(delete.code == .done && delete.errors == "", "\(delete.errors)")
    }
}
