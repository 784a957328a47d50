// SPDX-License-Identifier: Apache-2.0
import Gate
import Posix
import Sealing
import StateSupport
import Testing

@Suite("sealing a key again") struct ResealingTests {
    private let fixture: TPMFixture
    private let vaults: [any Vault]

    init() throws {
        fixture = try TPMFixture()
        vaults = [FileVault(host: fixture.host), fixture.vault]
    }

    private static let forSSH = "ssh:"

    private func later(
        _ relyingParty: String = forSSH, generation: UInt64 = 8
    ) throws -> SealingContext {
        try sealing(relyingParty: relyingParty, generation: generation, prints: [print(3)])
    }

    /// Checks that a vault refuses without asking whether the key opens.
    private func isRefused(
        _ vault: any Vault, _ relyingParty: String = forSSH, to new: SealingContext,
        for change: AuthorizedChange
    ) throws {
        let old = try sealing(relyingParty: relyingParty)
        let made = try vault.create(old)
        let fault = #expect(throws: VaultError.self) {
            try vault.reseal(key: made.sealed, from: old, to: new, for: change)
        }
        guard case .trouble = fault else {
            Issue.record("\(vault.kind): \(String(describing: fault))")
            return
        }
        _ = try vault.sign(made.sealed, old)
    }

    @Test(
        "moves an ssh key to the fingers after an authorised change, in both vaults",
        arguments: [forSSH, "ssh:work", "ssh agent"])
    func moved(_ application: String) throws {
        let change = try PlayedChange.of(1000)
        for vault in vaults {
            let old = try sealing(relyingParty: application)
            let made = try vault.create(old)
            let again = try vault.reseal(
                key: made.sealed, from: old, to: try later(application), for: change)
            _ = try vault.sign(again, try later(application))
            #expect(throws: VaultError.doesNotOpen) { try vault.sign(again, old) }
        }
    }

    @Test("is refused for a change that was authorised for another account, or too long ago")
    func evidence() throws {
        for vault in vaults {
            try isRefused(vault, to: try later(), for: try PlayedChange.of(1001))
            for age in [Duration.seconds(1_800), .seconds(-1)] {
                let time = PlayedTime()
                let change = try PlayedChange.of(1000, clock: time.clock)
                time.pass(age)
                try isRefused(vault, to: try later(), for: change)
            }
        }
    }

    @Test("is refused for another key, account or purpose, and for fingers that are not later")
    func contexts() throws {
        let change = try PlayedChange.of(1000)
        for vault in vaults {
            for generation: UInt64 in [6, 7] {
                try isRefused(vault, to: try later(generation: generation), for: change)
            }
            for other in [
                try sealing(account: "bob", relyingParty: Self.forSSH, generation: 8),
                try sealing(uid: 1001, relyingParty: Self.forSSH, generation: 8),
                try sealing(credential: 2, relyingParty: Self.forSSH, generation: 8),
                try sealing(relyingParty: "ssh:other", generation: 8),
                try sealing(relyingParty: Self.forSSH, use: .keyring, generation: 8),
            ] {
                try isRefused(vault, to: other, for: change)
            }
            for relyingParty in ["local", "signing", "https://ssh:1", "ssh", "ssh agents"] {
                try isRefused(
                    vault, relyingParty, to: try later(relyingParty), for: change)
            }
        }
    }

    @Test("without an authorised change keeps to the credential, and to its generation of fingers")
    func covering() throws {
        for vault in vaults {
            let made = try vault.create(try sealing())
            for other in [
                try later("local"), try sealing(uid: 1001), try sealing(credential: 2),
            ] {
                let fault = #expect(throws: VaultError.self) {
                    try vault.reseal(key: made.sealed, from: try sealing(), to: other)
                }
                guard case .trouble = fault else {
                    Issue.record("\(String(describing: fault))")
                    continue
                }
            }
            let old = try sealing(relyingParty: Self.forSSH)
            let new = try sealing(relyingParty: Self.forSSH, prints: [print(3)])
            let key = try vault.create(old)
            #expect(throws: VaultError.self) {
                try vault.reseal(key: key.sealed, from: old, to: new)
            }
        }
    }
}
