// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Sealing
import State

/// Answers the requests about the vaults.
extension Reports {
    /// Sends a description of both vaults, and in which one new keys are created.
    func listVaults(_: VaultRequest, client: any Client) async -> Answer {
        let chosen = await vaults.announced()
        for kind in VaultKind.allCases.reversed() {
            await client.send(.of(await describe(kind, isChosen: kind == chosen)))
        }
        return .done(DoneAnswer())
    }

    /// Accepts the current TPM as the one that seals keys, for example after it was cleared.
    ///
    /// Only root may ask. Closes all open template keys, and sends the TPM's new description.
    /// Throws the denial of the vault's error if the TPM cannot be used.
    func trustVault(
        _: TrustVaultRequest, client: any Client
    ) async throws(Denial) -> Answer {
        do throws(VaultError) {
            try await vaults.trust()
            // Keys that another TPM has opened must not be used as if this one had opened them.
            state.templateKeys.close()
        } catch {
            journal.fault(error.description)
            throw Denial(of: error)
        }
        await client.send(.of(await describe(.tpm, isChosen: await vaults.announced() == .tpm)))
        return .done(DoneAnswer())
    }

    /// Describes a vault, or the trouble that prevents describing it.
    func describe(_ kind: VaultKind, isChosen: Bool) async -> VaultAnswer {
        let name = kind.name
        do throws(VaultError) {
            let found = try await vaults.describe(kind)
            let registers = found.registers.map { String($0) }.joined(separator: ",")
            return VaultAnswer(
                vault: name, isChosen: isChosen, maker: Bytes(found.maker.utf8.prefix(Limit.label)),
                policy: Bytes(found.policy.utf8.prefix(Limit.text)),
                registers: Bytes(registers.utf8), root: found.root)
        } catch {
            return VaultAnswer(
                vault: name, isChosen: isChosen,
                trouble: Bytes(error.description.utf8.prefix(Limit.text)))
        }
    }
}

extension VaultKind {
    /// The vault's name in the command protocol.
    var name: Bytes { Bytes(rawValue.utf8) }
}
