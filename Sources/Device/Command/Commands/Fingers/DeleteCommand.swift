// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol

/// `signet delete`: deletes one finger or all of them.
struct DeleteCommand: Command {
    static let helpPosition = 40
    static let syntax = CommandSyntax(
        "delete", summary: "delete one finger, or all",
        forms: [
            FormSyntax(operands: [
                OperandSyntax(ValueSyntax("FINGER", kind: .listed(member: "finger", by: "list")))
            ]),
            FormSyntax(OptionSyntax("all", summary: "all fingers")),
        ], options: [.account, .passwordStdin, .json])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    /// `signet delete FINGER | --all`
    func perform() throws(CommandFault) {
        let finger = try shared.namedFinger()
        let account = try run.account()
        var foretold = Foretold()
        let done = try shared.change(
            .delete(account: account, finger: finger), awaitsTouch: false, foretold: &foretold)
        let lines = [
            DeleteMessages.deleted(
                finger?.word.bytes, account: account, prints: done.prints ?? 0)
        ]
        shared.sayChange(
            "deleted", account: account, finger: finger?.word, done: done, foretold: foretold,
            lines: lines + (done.printsLeft.map { [DeleteMessages.leftOnReader($0)] } ?? []),
            more: [("printsLeft", .number(UInt64(done.printsLeft ?? 0)))])
    }
}

/// Messages of `signet delete`.
enum DeleteMessages {
    /// One finger was removed, or all of them.
    static func deleted(_ finger: Bytes?, account: AccountName, prints: UInt8) -> Text {
        guard let finger else {
            return "all fingers of \(account) were deleted: \(FingerMessages.fingers(prints)) left"
        }
        return "\(finger) of \(account) was deleted: \(FingerMessages.fingers(prints)) left"
    }

    /// The fingers are deleted, but a reader could not delete its prints of them.
    static func leftOnReader(_ prints: UInt8) -> Text {
        """
        a reader still stores the prints of \(FingerMessages.fingers(prints)): it is unplugged or \
        has failed. The prints open nothing any more. 'sudo signet readers --prints' shows what \
        readers store
        """
    }
}
