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

private let words = [["enroll", "left-thumb"], ["delete", "left-thumb"]]
private let changed = Answer.done(DoneAnswer(finger: .leftThumb, prints: 1, state: .valid))

/// What the daemon says about an account with keys for others before a change.
private let foretold: [Answer] = [
    .of(ChangeEffectAnswer("server", subject: url)),
    .of(ChangeEffectAnswer("server", subject: url, name: Bytes("ci".utf8))),
    .of(ChangeEffectAnswer("server", subject: url, name: Bytes("web".utf8))),
    .of(ChangeEffectAnswer("signingKey")),
    // Of a kind that this command does not know.
    .of(ChangeEffectAnswer("badge", count: 3)),
    .of(ChangeForecastAnswer()),
]
private let url = Bytes("https://id.example".utf8)

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
        let run = try signet(
            words + ["--account", "alice"], [answering(foretold + [changed])]
        ) { $0.columns = { 80 } }
        #expect(run.code == .done)
        #expect(run.output.hasPrefix(Self.warnings), "\(run.output)")
        #expect(run.output.hasSuffix(Self.ended), "\(run.output)")
    }

    @Test("is reported only after the change without a terminal, and to programs", arguments: words)
    func elsewhere(words: [String]) throws {
        let script = answering(foretold + [changed])
        let run = try signet(words + ["--account", "alice"], [script])
        #expect(!run.output.contains("this change") && run.output.hasSuffix(Self.ended))
        let json = try signet(words + ["--account", "alice", "--json"], [script])
        let document = try json.document(words[0] == "enroll" ? "enrolled" : "deleted")
        #expect(document["serversEnded"] as? [String] == ["https://id.example"])
        #expect(document["macTokensEnded"] as? Int == 2)
        #expect(document["signingEnded"] as? Bool == true)
    }

    @Test("is told of the keyring before login is turned off, at a terminal alone")
    func keyring() throws {
        let script = answering([
            .of(ChangeEffectAnswer("keyring")), .of(ChangeForecastAnswer()),
            .done(DoneAnswer(state: .disabled)),
        ])
        let words = ["disable", "--account", "alice"]
        let run = try signet(words, [script]) { $0.columns = { 80 } }
        #expect(
            run.output.hasPrefix(
                "after this change, a touch will no longer open the keyring, until you run "))
        #expect(try signet(words, [script]).output.hasPrefix("fingerprint login is off for alice"))
    }

    @Test("is not said to have ended where the change was refused", arguments: words)
    func refused(words: [String]) throws {
        let denied = answering(foretold + [.denial(Denial(.changedMeanwhile))])
        let run = try signet(words + ["--account", "alice"], [denied])
        #expect(run.code == .denied && !run.output.contains("ended"))
    }

    @Test("is empty if nothing is foretold", arguments: words)
    func none(words: [String]) throws {
        for answers in [[changed], [.of(ChangeForecastAnswer()), changed]] as [[Answer]] {
            let run = try signet(words + ["--account", "alice"], [answering(answers)])
            #expect(run.code == .done && !run.output.contains("ended"))
            let json = try signet(words + ["--account", "alice", "--json"], [answering(answers)])
            let document = try json.document(words[0] == "enroll" ? "enrolled" : "deleted")
            #expect(document["serversEnded"] as? [String] == [])
            #expect(document["signingEnded"] as? Bool == false)
        }
    }

    @Test("is told of a finger that moves to another reader before it is enrolled")
    func moves() throws {
        let move = ChangeForecastAnswer(
            finger: .leftThumb,
            move: ReaderMove(old: Bytes("usb-1".utf8), new: Bytes("usb-2".utf8)))
        let run = try signet(
            ["enroll", "left-thumb", "--account", "alice"], [answering([.of(move), changed])]
        ) { $0.columns = { 80 } }
        #expect(
            run.output.hasPrefix("left-thumb is enrolled on the reader usb-1: after this change"))
    }
}
