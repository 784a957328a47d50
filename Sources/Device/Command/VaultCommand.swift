// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import SignedFormats

/// `signet vault`: shows the vaults, and moves keys between them.
struct VaultCommand: Command {
    static let syntax = CommandSyntax(
        "vault",
        summary: "show where the keys are stored, or move an account's key to the other vault",
        forms: [
            FormSyntax(),
            FormSyntax(
                word: "migrate",
                operands: [
                    OperandSyntax(
                        ValueSyntax("tpm|file", kind: .choice(["tpm", "file"])) { _ in
                            CommandText.whichVault
                        }, missing: CommandText.whichVault)
                ]), FormSyntax(word: "trust", isForRoot: true),
        ], options: [.account, .passwordStdin, .json])

    let run: Invocation

    /// Shows the vaults, migrates the account's key to another vault, or trusts the present TPM.
    func perform() throws(CommandFault) {
        let words = run.arguments.operands
        switch words.first {
        case "migrate": try migrate(to: words.last ?? "")
        case "trust": try trustVault()
        default: try showVaults()
        }
    }

    private func showVaults() throws(CommandFault) {
        let vaults = try vaultAnswers(to: .vault)
        run.say(
            .document("vaults", members: [("vaults", .array(vaults.map(\.document)))]),
            Table.lines(vaults.flatMap(\.rows)))
    }

    private func migrate(to name: String) throws(CommandFault) {
        let account = try run.account()
        let done = try run.follow(.migrate(account: account, vault: name.bytes), awaitsTouch: false)
        run.say(
            .document(
                "migrated",
                members: [
                    ("account", .bytes(account.bytes)), ("vault", .string(name)),
                    ("login", .optional(done.state) { .string($0.word) }),
                ]),
            [CommandOutcome.migrated(name.bytes, account: account)])
    }

    private func trustVault() throws(CommandFault) {
        let vaults = try vaultAnswers(to: .trustVault)
        run.say(
            .document("trusted", members: [("vaults", .array(vaults.map(\.document)))]),
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
