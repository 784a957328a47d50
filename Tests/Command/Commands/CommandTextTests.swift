// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

@testable import Command

private let hostile = Bytes("a\nb\r\u{1B}[2J\u{85}\u{202E}\u{2028}\0".utf8) + [0xFF]

private func isHarmless(_ text: Text) -> Bool {
    guard let string = String(validating: text.bytes, as: UTF8.self), !text.bytes.isEmpty else {
        return false
    }
    return string.unicodeScalars.allSatisfy { scalar in
        scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
            && scalar.value != 0x2028
    }
}

private func hasStyle(_ text: Text) -> Bool {
    let string = String(decoding: text.bytes, as: UTF8.self)
    return string.first?.isUppercase == false && string.last != "."
}

@Suite("The command's texts")
struct CommandTextTests {
    @Test("each exit code has one of its own")
    func exitCodes() {
        let texts = ExitCode.allCases.map { String(decoding: $0.text.bytes, as: UTF8.self) }
        #expect(Set(texts).count == ExitCode.allCases.count)
        #expect(ExitCode.allCases.allSatisfy { isHarmless($0.text) && hasStyle($0.text) })
    }

    @Test(
        "how long there is time is said in the largest unit that makes it two at least",
        arguments: [
            (0, "in 0 s"), (119, "in 119 s"), (120, "in 2 min"), (7_199, "in 119 min"),
            (7_200, "in 2 h"), (172_799, "in 47 h"), (172_800, "in 2 days"),
            (UInt64.max, "in 213503982334601 days"),
        ])
    func left(seconds: UInt64, text: String) {
        #expect(String(decoding: OperationMessages.left(seconds).bytes, as: UTF8.self) == text)
    }

    @Test("what comes from outside cannot change how a message shows")
    func messages() {
        let texts: [Text] = [
            LogMessages.notNumber(hostile, option: hostile),
            DaemonExchangeMessages.badAccount(AccountName(hostile)),
            DaemonConnectionMessages.absent(hostile), CommonMessages.failed(hostile),
            FingerMessages.unknownFinger(hostile, names: "a"),
            DaemonExchangeMessages.foreignPassword(AccountName(hostile)),
            ConfigMessages.noMistakes(hostile),
            ConfigMessages.otherSetting(
                hostile, service: hostile, origin: hostile, files: hostile),
            LogMessages.exists(hostile), StatusMessages.refused(hostile),
            EnrollMessages.enrolled(hostile, account: AccountName(hostile), prints: 1),
            DeleteMessages.deleted(hostile, account: AccountName(hostile), prints: 2),
            StatusMessages.reader(name: hostile, readerID: hostile),
        ]
        let word = String(decoding: hostile, as: UTF8.self)
        let faults: [UsageFault] = [
            .noCommand(help: word), .unknownCommand(word, nearest: nil, help: word),
            .unknownCommand(word, nearest: word, help: word),
            .earlyOption(word, help: word), .incompleteCommand(word, [word], help: word),
            .unknownOption(word, nearest: nil, of: word, call: word),
            .unknownOption(word, nearest: word, of: word, call: word), .repeatedOption(word),
            .missingValue(word, call: word), .emptyValue(word), .unwantedValue(word),
            .unwantedWord(word, of: word, call: word),
            .wordNeedsOption(word, option: word, of: word, call: word),
            .missingOperand(word, of: word, call: word), .either(word, word, of: word),
            .needs(word, word), .notInRange(word, word, 1...2), .notAChoice(word, word, [word]),
            .notAbsolute(word, word),
        ]
        for text in texts + faults.map(\.text) {
            #expect(
                isHarmless(text) && hasStyle(text), "\(String(decoding: text.bytes, as: UTF8.self))"
            )
        }
        #expect(isHarmless(PasswordMessages.passwordPrompt(AccountName(hostile))))
    }

    @Test("each state of a credential and of the lockout has a line, and the way on")
    func status() {
        for state in CredentialState.allCases {
            for cause in [nil] + InvalidationCause.allCases.map(Optional.some) {
                for (prints, lock) in [
                    (UInt8(0), LockState.open), (1, .forNow), (10, .untilPassword),
                ] {
                    let status = StatusAnswer(
                        account: AccountName(hostile), cause: cause, since: .max, prints: prints,
                        damaged: prints, state: state, generation: 1, lock: lock,
                        program: hostile, vault: hostile, device: .sample(0..<16))
                    #expect(isHarmless(StatusMessages.login(status)))
                    #expect(isHarmless(StatusMessages.lock(status)))
                    #expect(isHarmless(StatusMessages.fingers(status)))
                }
            }
            #expect(isHarmless(FingerMessages.login(state, account: AccountName(hostile))))
        }
        for keyring in KeyringState.allCases {
            var status = StatusAnswer(
                account: AccountName(hostile), prints: 1, damaged: 0, state: .valid, generation: 1,
                lock: .open,
                program: [], vault: [], device: .sample(0..<16))
            status.keyring = keyring
            #expect(isHarmless(StatusText.keyring(status)))
            #expect(isHarmless(FingerMessages.keyring(keyring, account: AccountName(hostile))))
        }
    }
}
