// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages

/// `signet unlock`: lifts a lockout.
struct UnlockCommand: Command {
    static let helpPosition = 80
    static let syntax = CommandSyntax(
        "unlock", summary: "end the lockout after too many failed scans",
        options: [.account, .passwordStdin, .json])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    func perform() throws(CommandFault) {
        try shared.toggle(Request.unlock, kind: "unlocked") { account, _ in
            [UnlockMessages.unlocked(account)]
        }
    }
}

/// Messages of `signet unlock`.
enum UnlockMessages {
    /// The lockout was lifted.
    static func unlocked(_ account: AccountName) -> Text {
        "fingerprint login is unlocked for \(account)"
    }
}
