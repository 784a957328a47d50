// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import LoginMessages
import LoginProtocol

/// `signet enable`: turns on login by finger, registers at a server, or makes the signing key.
struct EnableCommand: Command {
    static let description = CommandDescription(
        "enable", CommandHelp.enable,
        options: [
            .account, TakenOption(.server, CommandHelp.serverEnable),
            TakenOption(.signing, CommandHelp.signing), TakenOption(.keyring, CommandHelp.keyring),
            TakenOption(.noKeyring, CommandHelp.noKeyring), .passwordStdin,
        ])

    let run: Invocation

    private var shared: FingerRequests { FingerRequests(run: run) }

    func perform() throws(CommandFault) {
        if run.arguments.has(.signing) { return try SigningKeyRequests(run: run).enableSigning() }
        if run.arguments.has(.server) { return try ServerRequests(run: run).enableServer() }
        try enableLogin()
    }

    /// `signet enable [--keyring | --no-keyring]`
    private func enableLogin() throws(CommandFault) {
        guard !run.arguments.has(.keyring) || !run.arguments.has(.noKeyring) else {
            throw .usage(
                CommandText.choose(
                    Option.keyring.name.bytes, Option.noKeyring.name.bytes, action: "enable".bytes))
        }
        if shared.isAtTerminal { try showSealing(try run.account()) }
        var keyring: Bool?
        if run.arguments.has(.keyring) { keyring = true }
        if run.arguments.has(.noKeyring) { keyring = false }
        try shared.toggle(
            { [keyring] in Request.enable(account: $0, keyring: keyring) }, kind: "enabled"
        ) { account, prints in
            let sealed = prints.map { CommandOutcome.sealed($0.row[0], reader: $0.readerID) }
            return sealed + shared.loginLines(.valid, account)
        }
    }

    /// Shows which prints the key will be sealed to, before the user enters the password.
    ///
    /// Throws `.printsDamaged` as a denial if one of them is damaged.
    private func showSealing(_ account: Bytes) throws(CommandFault) {
        // If they cannot be listed, the daemon denies the request for the same reason.
        guard let prints = try shared.knownFingers(account)?.prints, !prints.isEmpty else { return }
        if let damaged = prints.first(where: { !$0.intact }) {
            throw .denied(Denial(.printsDamaged, finger: damaged.finger), account: account)
        }
        run.surroundings.say(CommandOutcome.sealing(account))
        for line in Table.lines([PrintAnswer.heading] + prints.map(\.row)) {
            run.surroundings.say("  \(line)")
        }
    }
}
