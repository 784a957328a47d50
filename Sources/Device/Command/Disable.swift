// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol

/// `signet disable`: turns off login by finger, a server's registration, or the signing key.
struct DisableCommand: Command {
    static let description = CommandDescription(
        "disable", CommandHelp.disable,
        options: [
            .account, TakenOption(.server, CommandHelp.serverDisable),
            TakenOption(.signing, CommandHelp.signing), .passwordStdin,
        ])

    let run: Invocation

    private var shared: FingerRequests { FingerRequests(run: run) }

    func perform() throws(CommandFault) {
        if run.arguments.has(.signing) { return try SigningKeyRequests(run: run).disableSigning() }
        if run.arguments.has(.server) { return try ServerRequests(run: run).disableServer() }
        try shared.toggle(Request.disable, kind: "disabled") { account, _ in
            [CommandOutcome.disabled(account)]
        }
    }
}
