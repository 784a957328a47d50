// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// `signet enroll`: adds a finger; without a name, the first in `Finger.preference` that is not
/// enrolled.
struct EnrollCommand: Command {
    static let helpPosition = 20
    static let syntax = CommandSyntax(
        "enroll", summary: "add a finger: right-index, or the next free one",
        operands: [
            OperandSyntax(
                ValueSyntax("FINGER", kind: .choice(Finger.allCases.map(\.word))) { word in
                    FingerMessages.unknownFinger(
                        word, names: Finger.allCases.map(\.word).joined(separator: ", ").text)
                }, count: 0...1)
        ], options: [.account, .reader, .passwordStdin, .json])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    /// `signet enroll [FINGER] [--reader ID]`
    func perform() throws(CommandFault) {
        let account = try run.account()
        let named = try shared.namedFinger()
        var foretold = Foretold()
        let done = try shared.change(
            .enroll(
                account: account, finger: named, readerID: run.arguments.value(.reader)?.bytes),
            awaitsTouch: true, foretold: &foretold
        ) { forecast in
            guard let finger = forecast.finger, let move = forecast.move else { return [] }
            return [EnrollMessages.replacing(finger.word.bytes, on: move.old, by: move.new)]
        }
        let name = (done.finger ?? named ?? .rightIndex).word
        let lines = [
            EnrollMessages.enrolled(name.bytes, account: account, prints: done.prints ?? 0)
        ]
        shared.sayChange(
            "enrolled", account: account, finger: name, done: done, foretold: foretold,
            lines: lines)
    }
}

/// Messages of `signet enroll`.
enum EnrollMessages {
    /// Before an enrolment: the finger's print on another reader will be replaced.
    static func replacing(_ finger: Bytes, on old: Bytes, by new: Bytes) -> Text {
        """
        \(finger) is enrolled on the reader \(old): after this change it works on the reader \(new) \
        only. To keep it, press Ctrl-C and enrol another finger here
        """
    }

    /// A finger was added.
    static func enrolled(_ finger: Bytes, account: AccountName, prints: UInt8) -> Text {
        "\(finger) is enrolled for \(account): \(FingerMessages.fingers(prints)) in total"
    }
}
