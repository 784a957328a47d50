// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet list`: lists the account's enrolled fingers.
struct ListCommand: Command {
    static let helpPosition = 30
    static let syntax = CommandSyntax(
        "list", summary: "list the fingers of an account", options: [.account, .json])

    let run: Invocation

    /// `signet list`
    func perform() throws(CommandFault) {
        let account = try run.account()
        var done = DoneAnswer()
        let prints: [PrintAnswer] = try run.collect(.list(account: account), last: &done) {
            if case .print(let print) = $0 { print } else { nil }
        }
        let secrets = done.secrets
        let refusal = prints.isEmpty ? nil : try StatusCommand(run: run).refusal(of: account)
        let document = JSON.document(
            "fingers",
            members: [
                ("account", .bytes(account.bytes)), ("fingers", .array(prints.map(\.document))),
                ("secrets", .number(UInt64(secrets ?? 0))),
                ("works", .bool(!prints.isEmpty && refusal == nil)),
                ("refusal", .optional(refusal) { .string($0.reason.word) }),
            ])
        guard !prints.isEmpty else { return run.say(document, [FingerMessages.noFingers(account)]) }
        let depending = secrets.map { [ListMessages.depending($0)] } ?? []
        run.say(
            document,
            Table.lines([PrintAnswer.heading] + prints.map(\.row)) + depending
                + (refusal.map { [ListMessages.refused($0, account: account)] } ?? []))
    }
}

/// Messages of `signet list`.
enum ListMessages {
    /// For `signet list`: no finger would be asked for at a login now.
    static func refused(_ refusal: Denial, account: AccountName) -> Text {
        "no finger is accepted at a login now: \(refusal.text(account: account))"
    }

    /// For `signet list`: how many secrets a change of fingers would end.
    static func depending(_ count: UInt32) -> Text {
        count == 1
            ? "1 secret is sealed to these fingers: if they change, it can no longer be opened"
            : """
            \(number: count) secrets are sealed to these fingers: if the fingers change, the \
            secrets can no longer be opened
            """
    }
}
