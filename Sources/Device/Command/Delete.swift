// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol

/// `signet delete`: deletes one finger or all of them.
struct DeleteCommand: Command {
    static let description = CommandDescription(
        "delete", CommandHelp.delete, operands: ("FINGER | --all", 1),
        options: [.account, TakenOption(.all, CommandHelp.all), .passwordStdin])

    let run: Invocation

    private var shared: FingerRequests { FingerRequests(run: run) }

    /// `signet delete FINGER | --all`
    func perform() throws(CommandFault) {
        let finger = try shared.namedFinger()
        guard (finger == nil) == run.arguments.has(.all) else {
            throw .usage(
                CommandText.choose("FINGER".bytes, Option.all.name.bytes, action: "delete".bytes))
        }
        let account = try run.account()
        let known = shared.isAtTerminal ? try shared.knownFingers(account) : nil
        let endings = try AffectedKeys.of(account, run)
        // Deleting a finger that is not enrolled ends nothing; a damaged print may be of any
        // finger.
        let isThere = known?.prints.contains { $0.finger == finger || $0.finger == nil } ?? true
        if finger == nil || isThere { shared.warn(of: endings, known?.secrets) }
        let done = try run.follow(.delete(account: account, finger: finger), awaitsTouch: false)
        let lines = [
            CommandOutcome.deleted(
                finger?.word.bytes, account: account, prints: done.prints ?? 0)
        ]
        shared.sayChange("deleted", account, finger: finger?.word, done, endings, lines)
    }
}
