// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol

/// `signet unlock`: lifts a lockout.
struct UnlockCommand: Command {
    static let description = CommandDescription(
        "unlock", CommandHelp.unlock, options: [.account, .passwordStdin])

    let run: Invocation

    private var shared: FingerRequests { FingerRequests(run: run) }

    func perform() throws(CommandFault) {
        try shared.toggle(Request.unlock, kind: "unlocked") { account, _ in
            [CommandOutcome.unlocked(account)]
        }
    }
}
