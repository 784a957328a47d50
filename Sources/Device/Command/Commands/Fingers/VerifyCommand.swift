// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet verify`: asks for a touch and reports which finger matched, and whether a login would
/// accept it; nothing is signed.
struct VerifyCommand: Command {
    static let helpPosition = 50
    static let syntax = CommandSyntax(
        "verify", summary: "check whether the reader recognises the finger",
        options: [
            .account,
            .reason, .json,
        ])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    /// `signet verify [--reason TEXT]`
    func perform() throws(CommandFault) {
        let reason = try reason()
        let account = try run.account()
        let done = try run.follow(
            .verify(account: account, timeoutMilliseconds: 30_000, reason: reason),
            awaitsTouch: true, reason: reason)
        let finger = done.finger?.word
        let refusal = try StatusCommand(run: run).refusal(of: account)
        run.say(
            .document(
                "verified",
                members: [
                    ("account", .bytes(account.bytes)),
                    ("finger", .optional(finger) { .string($0) }),
                    ("works", .bool(refusal == nil)),
                    ("refusal", .optional(refusal) { .string($0.reason.word) }),
                ]),
            [VerifyMessages.matched(finger?.bytes)]
                + (refusal.map { [ListMessages.refused($0, account: account)] } ?? []))
    }

    /// The reason for the touch, as the caller states it; throws `.usage` if it cannot be
    /// displayed.
    private func reason() throws(CommandFault) -> Bytes? {
        guard let reason = run.arguments.value(.reason)?.bytes else { return nil }
        guard AskersReason.isSound(reason) else {
            throw .usage(VerifyMessages.badReason(most: UInt32(AskersReason.limit)))
        }
        return reason
    }
}

extension OptionSyntax {
    fileprivate static let reason = OptionSyntax(
        "reason", ValueSyntax("TEXT"), summary: "what the touch is for, in your own words")
}

/// Messages of `signet verify`.
enum VerifyMessages {
    /// The finger was recognised.
    static func matched(_ finger: Bytes?) -> Text {
        guard let finger else { return "the finger matched" }
        return "the finger matched: \(finger)"
    }

    /// The purpose given with `--reason` is invalid.
    static func badReason(most: UInt32) -> Text {
        "--reason needs one line of 1 to \(number: most) bytes, with visible characters only"
    }
}
