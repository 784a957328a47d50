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
        try warnOfReplacement(of: finger, known: known)
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

    /// Warns a user at a terminal if the finger is enrolled on another reader, where it will not work
    /// any more.
    private func warnOfReplacement(
        of finger: Finger, known: KnownFingers?
    ) throws(CommandFault) {
        guard shared.isAtTerminal,
            let old = known?.prints.first(where: { $0.finger == finger && $0.intact })
        else { return }
        let readers: [ReaderAnswer]
        do throws(CommandFault) {
            readers = try ReadersCommand(run: run).readerAnswers()
        } catch .denied { return }
        guard let new = run.arguments.value(.reader)?.bytes ?? readers.first?.readerID,
            Self.kind(of: new) != Self.kind(of: old.readerID)
        else { return }
        run.environment.say(
            EnrollMessages.replacing(finger.word.bytes, on: old.readerID, by: new))
    }

    /// The kind of a reader: its id without the number that tells equal readers apart.
    private static func kind(of reader: Bytes) -> Bytes {
        Bytes(reader.prefix { $0 != UInt8(ascii: "#") })
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
