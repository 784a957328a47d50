// SPDX-License-Identifier: Apache-2.0
import Loop
import Vault

/// Something sealed, and what opens it as things stand.
struct SealedItem: Sendable {
    let vault: VaultKind
    let sealed: [UInt8]
    let context: SealingContext
    /// Whether a touch is of no use where it does not open.
    var isRequired = true
}

/// Gets a key ready while the finger is awaited, so that nobody waits for the vault afterwards.
///
/// Whoever made it calls `end()`.
@ServiceActor
final class KeyPreparation {
    /// The data that are got ready with the key, nil for none.
    let data: SealedItem?
    private let vaults: Vaults
    private var outcome: Result<ReadyItems, VaultError>?
    private var waiting: CheckedContinuation<Void, Never>?
    private var hasEnded = false

    /// Begins; `failed` is called, later, where there is no use in waiting for a finger.
    init(
        _ key: SealedItem, _ data: SealedItem?, in vaults: Vaults,
        failed: @escaping @ServiceActor () -> Void
    ) {
        self.vaults = vaults
        self.data = data
        onService { [self] in
            settle(await outcome(key, data))
            if case .failure(.trouble) = outcome { failed() }
        }
    }

    /// What is ready, as soon as it is.
    func items() async throws(VaultError) -> ReadyItems {
        if outcome == nil {
            await withCheckedContinuation { continuation in
                if outcome != nil { return continuation.resume() }
                waiting = continuation
            }
        }
        guard let outcome else { throw .trouble(.noAnswer) }
        return try outcome.get()
    }

    /// Why nothing is ready, if that is known by now.
    var failure: VaultError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// Gives back what is ready, also what becomes so only later.
    func end() {
        hasEnded = true
        guard case .success(let items) = outcome else { return }
        vaults.giveBack(items)
    }

    private func settle(_ result: Result<ReadyItems, VaultError>) {
        outcome = result
        waiting?.resume()
        waiting = nil
        if hasEnded { end() }
    }

    private func outcome(
        _ key: SealedItem, _ data: SealedItem?
    ) async -> Result<ReadyItems, VaultError> {
        var items: ReadyItems?
        do throws(VaultError) {
            let ready = try await vaults.call(key.vault) { vault throws(VaultError) in
                try vault.ready(key: key.sealed, key.context)
            }
            var both = ReadyItems(key: ready, keyVault: key.vault)
            items = both
            if let data {
                both.data = try await got(data)
                both.dataVault = data.vault
            }
            return .success(both)
        } catch {
            if let items { vaults.giveBack(items) }
            return .failure(error)
        }
    }

    /// Gets data ready; throws where there is no use in waiting for a finger.
    private func got(
        _ data: SealedItem
    ) async throws(VaultError) -> Result<any ReadyData, VaultError> {
        do throws(VaultError) {
            return .success(
                try await vaults.call(data.vault) { vault throws(VaultError) in
                    try vault.ready(data: data.sealed, data.context)
                })
        } catch .trouble(.platformChanged) {
            // The key opens: it was made anew for this platform, which the data were not.
            return .failure(.trouble(.platformChanged))
        } catch {
            if case .trouble = error, data.isRequired { throw error }
            return .failure(error)
        }
    }
}
