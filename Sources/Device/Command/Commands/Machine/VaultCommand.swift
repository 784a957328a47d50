// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import CommandMessages
import CommandProtocol
import Domain
import JSONFormat
import LoginMessages
import LoginProtocol
import SignedFormats

/// `signet vault`: shows the vaults, and moves keys between them.
struct VaultCommand: Command {
    static let helpPosition = 100
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
                            VaultMessages.whichVault
                        }, missing: VaultMessages.whichVault)
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
            [VaultMessages.migrated(name.bytes, account: account)])
    }

    private func trustVault() throws(CommandFault) {
        let vaults = try vaultAnswers(to: .trustVault)
        run.say(
            .document("trusted", members: [("vaults", .array(vaults.map(\.document)))]),
            [VaultMessages.trusted(Hexadecimal.encode(vaults.first?.root ?? []))])
    }

    private func vaultAnswers(to request: Request) throws(CommandFault) -> [VaultAnswer] {
        try run.collect(request) { $0.own() }
    }
}

extension VaultAnswer {
    fileprivate var rows: [[Text]] {
        var rows: [[Text]] = [
            [VaultMessages.vault, VaultMessages.kind(vault, isChosen: isChosen)]
        ]
        if let trouble { rows.append([VaultMessages.trouble, "\(detail: trouble)"]) }
        guard !maker.isEmpty else { return rows }
        rows += [[VaultMessages.maker, "\(maker)"], [VaultMessages.policy, "\(policy)"]]
        guard !root.isEmpty else { return rows }
        return rows + [
            [VaultMessages.registers, registers.isEmpty ? TableText.none : "\(registers)"],
            [VaultMessages.root, "\(Hexadecimal.encode(root))"],
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

/// Messages of `signet vault`.
enum VaultMessages {
    /// The key was moved to another vault.
    static func migrated(_ vault: Bytes, account: AccountName) -> Text {
        "the key of \(account) is now in the vault '\(vault)', and the old one is gone"
    }

    /// The TPM's root key is now trusted.
    static func trusted(_ root: Bytes) -> Text {
        """
        the TPM is now trusted, with the root key \(root). Accounts whose keys were in another TPM \
        must start again with 'signet delete --all' and 'signet enroll'
        """
    }

    /// The destination of `migrate` is missing or unknown.
    static let whichVault: Text = "migrate needs a destination: tpm or file"
    /// The start of the line: which vault.
    static let vault: Text = "vault"
    /// The start of the line: why it cannot be used.
    static let trouble: Text = "problem"
    /// The start of the line: the manufacturer.
    static let maker: Text = "made by"
    /// The start of the line: what opens a key.
    static let policy: Text = "opens for"
    /// The start of the line: which PCRs new keys are bound to.
    static let registers: Text = "PCRs"
    /// The start of the line: the storage root key.
    static let root: Text = "root key"
    /// Which vault, and whether new keys are made in it.
    static func kind(_ vault: Bytes, isChosen: Bool) -> Text {
        isChosen ? "\(vault): new keys are stored here" : "\(vault)"
    }
}
