// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages

/// `signet disable`: turns off login by finger, a server's registration, or the signing key.
struct DisableCommand: Command {
    static let helpPosition = 70
    static let syntax = CommandSyntax(
        "disable", summary: "turn fingerprint login off; the fingers stay enrolled",
        forms: [
            FormSyntax(), FormSyntax(.signing),
            FormSyntax(.server(summary: "remove the registration at this server only")),
        ], options: [.account, .passwordStdin, .json])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    func perform() throws(CommandFault) {
        if run.arguments.has(.signing) { return try SigningKeyRequests(run: run).disableSigning() }
        if run.arguments.has(.server) { return try ServerRequests(run: run).disableServer() }
        try shared.toggle(
            Request.disable, kind: "disabled", foretold: { told, _ in shared.warn(of: told) }
        ) { account, _ in [DisableMessages.disabled(account)] }
    }
}

/// Messages of `signet disable`.
enum DisableMessages {
    /// Fingerprint login was turned off.
    static func disabled(_ account: AccountName) -> Text {
        "fingerprint login is off for \(account). Run 'signet enable' to turn it on again"
    }
}
