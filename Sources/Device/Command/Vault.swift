// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import JSONFormat
import LoginMessages
import SignedFormats

/// `signet vault`: shows the vaults, and moves keys between them.
struct VaultCommand: Command {
    static let description = CommandDescription(
        "vault", CommandHelp.vault, operands: ("[migrate tpm|file | trust]", 2),
        besides: ["migrate", "trust"], options: [.account, .passwordStdin])

    let run: Invocation

    /// Shows the vaults, migrates the account's key to another vault, or trusts the present TPM.
    func perform() throws(CommandFault) {
        switch (run.arguments.operands.first, run.arguments.operands.count) {
        case (nil, _): try showVaults()
        case ("migrate", 2): try migrate(to: run.arguments.operands[1])
        case ("migrate", _): throw .usage(CommandText.whichVault)
        case ("trust", 1): try trustVault()
        case (let word?, _):
            throw .usage(CommandText.unwantedWord(word.bytes, action: "vault".bytes))
        }
    }

    private func showVaults() throws(CommandFault) {
        let vaults = try vaultAnswers(to: .vault)
        run.say(
            .document("vaults", [("vaults", .array(vaults.map(\.document)))]),
            Table.lines(vaults.flatMap(\.rows)))
    }

    private func migrate(to name: String) throws(CommandFault) {
        guard ["file", "tpm"].contains(name) else { throw .usage(CommandText.whichVault) }
        let account = try run.account()
        let done = try run.follow(.migrate(account: account, vault: name.bytes), awaitsTouch: false)
        run.say(
            .document(
                "migrated",
                [
                    ("account", .bytes(account)), ("vault", .string(name)),
                    ("login", .optional(done.state) { .string($0.word) }),
                ]),
            [CommandOutcome.migrated(name.bytes, account: account)])
    }

    private func trustVault() throws(CommandFault) {
        let vaults = try vaultAnswers(to: .trustVault)
        run.say(
            .document("trusted", [("vaults", .array(vaults.map(\.document)))]),
            [CommandOutcome.trusted(Hexadecimal.encode(vaults.first?.root ?? []))])
    }

    private func vaultAnswers(to request: Request) throws(CommandFault) -> [VaultAnswer] {
        try run.collect(request) { answer in
            if case .vault(let vault) = answer { return vault }
            return nil
        }
    }
}

extension VaultAnswer {
    fileprivate var rows: [[Text]] {
        var rows: [[Text]] = [
            [CommandVault.vault, CommandVault.kind(vault, isChosen: isChosen)]
        ]
        if let trouble { rows.append([CommandVault.trouble, "\(detail: trouble)"]) }
        guard !maker.isEmpty else { return rows }
        rows += [[CommandVault.maker, "\(maker)"], [CommandVault.policy, "\(policy)"]]
        guard !root.isEmpty else { return rows }
        return rows + [
            [CommandVault.registers, registers.isEmpty ? CommandTable.none : "\(registers)"],
            [CommandVault.root, "\(Hexadecimal.encode(root))"],
        ]
    }

    fileprivate var document: JSON {
        .object([
            ("vault", .bytes(vault)), ("chosen", .bool(isChosen)),
            ("trouble", .optional(trouble, JSON.bytes)), ("maker", .bytes(maker)),
            ("policy", .bytes(policy)), ("pcrs", .bytes(registers)),
            ("root", .bytes(Hexadecimal.encode(root))),
        ])
    }
}
