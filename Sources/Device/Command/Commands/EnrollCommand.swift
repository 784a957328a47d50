// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// `signet enroll`: adds a finger; without a name, the first in `preference` that is not enrolled.
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

    /// The order in which fingers are chosen if none is named.
    private static let preference: [Finger] = [
        .rightIndex, .leftIndex, .rightThumb, .leftThumb, .rightMiddle, .leftMiddle, .rightRing,
        .leftRing, .rightLittle, .leftLittle,
    ]

    /// `signet enroll [FINGER] [--reader ID]`
    func perform() throws(CommandFault) {
        let account = try run.account()
        let named = try shared.namedFinger()
        var finger = named ?? .rightIndex
        var known: KnownFingers?
        if named == nil || shared.isAtTerminal {
            let fingers = try shared.fingers(account)
            if named == nil { finger = try freeFinger(fingers, account: account) }
            known = fingers
        }
        let affected = try AffectedKeys.of(account, run: run)
        shared.warn(of: affected, known: known, left: true)
        let done = try run.follow(
            .enroll(
                account: account, finger: finger,
                readerID: run.arguments.value(.reader)?.bytes), awaitsTouch: true)
        let name = (done.finger ?? finger).word
        let lines = [
            EnrollMessages.enrolled(name.bytes, account: account, prints: done.prints ?? 0)
        ]
        shared.sayChange(
            "enrolled", account: account, finger: name, done: done, affected: affected, lines: lines
        )
    }

    private func freeFinger(
        _ fingers: KnownFingers, account: AccountName
    ) throws(CommandFault) -> Finger {
        let taken = fingers.prints.compactMap(\.finger)
        guard let free = Self.preference.first(where: { !taken.contains($0) }) else {
            throw .denied(Denial(.tooManyFingers), account: account)
        }
        return free
    }
}

/// Messages of `signet enroll`.
enum EnrollMessages {
    /// A finger was added.
    static func enrolled(_ finger: Bytes, account: AccountName, prints: UInt8) -> Text {
        "\(finger) is enrolled for \(account): \(FingerMessages.fingers(prints)) in total"
    }
}
