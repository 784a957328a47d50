// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol

/// `signet enable`: turns on login by finger, registers at a server, or makes the signing key.
struct EnableCommand: Command {
    static let helpPosition = 60
    static let syntax = CommandSyntax(
        "enable", summary: "turn fingerprint login on for the fingers enrolled now",
        forms: [
            FormSyntax(), FormSyntax(.signing),
            FormSyntax(
                .server(summary: "only register this device at this server"),
                options: [.name, .password, .passwordKey]),
            FormSyntax(.keyring), FormSyntax(.noKeyring),
        ], options: [.account, .passwordStdin, .json])

    let run: Invocation

    private var shared: FingerExchange { FingerExchange(run: run) }

    func perform() throws(CommandFault) {
        if run.arguments.has(.signing) { return try SigningKeyRequests(run: run).enableSigning() }
        if run.arguments.has(.passwordKey) {
            guard !run.arguments.has(.name) else {
                throw .usage(UsageFault.either("--name", "--password-key", of: "enable").text)
            }
            guard !run.arguments.has(.password) else {
                throw .usage(
                    UsageFault.either("--password", "--password-key", of: "enable").text)
            }
            return try ServerRequests(run: run).replacePasswordKey()
        }
        if run.arguments.has(.server) { return try ServerRequests(run: run).enableServer() }
        try enableLogin()
    }

    /// `signet enable [--keyring | --no-keyring]`
    private func enableLogin() throws(CommandFault) {
        var keyring: Bool?
        if run.arguments.has(.keyring) { keyring = true }
        if run.arguments.has(.noKeyring) { keyring = false }
        try shared.toggle(
            { [keyring] in Request.enable(account: $0, keyring: keyring) }, kind: "enabled",
            foretold: showSealing
        ) { account, prints in
            let sealed = prints.map { EnableMessages.sealed($0.row[0], reader: $0.readerID) }
            return sealed + shared.loginLines(.valid, account: account)
        }
    }

    /// Shows a user at a terminal which prints the key will be sealed to, before the password is asked
    /// for.
    private func showSealing(_ foretold: Foretold, _ account: AccountName) {
        guard shared.isAtTerminal, !foretold.prints.isEmpty else { return }
        run.environment.say(EnableMessages.sealing(account))
        for line in Table.lines([PrintAnswer.heading] + foretold.prints.map(\.row)) {
            run.environment.say("  \(line)")
        }
    }
}

extension OptionSyntax {
    fileprivate static let passwordKey = OptionSyntax(
        "password-key",
        summary: "create a new key for your password there (needed after a password change)")
    fileprivate static let keyring = OptionSyntax(
        "keyring",
        summary: "store the login password for the keyring, to be released by a touch at login")
    fileprivate static let noKeyring = OptionSyntax(
        "no-keyring", summary: "no longer store the login password for the keyring")
}

/// Messages of `signet enable`.
enum EnableMessages {
    /// A finger that a key was sealed to.
    static func sealed(_ finger: Text, reader: Bytes) -> Text {
        "the key opens for \(finger), enrolled on \(reader)"
    }

    /// Before the fingers that a key is about to be sealed to.
    static func sealing(_ account: AccountName) -> Text {
        """
        these fingers will open the key of \(account). Continue only if all of them are yours: \
        anyone with one of them can log in as \(account)
        """
    }
}
