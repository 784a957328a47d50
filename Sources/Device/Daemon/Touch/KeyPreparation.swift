// SPDX-License-Identifier: Apache-2.0
import MainContext
import Sealing

/// A sealed key or secret, with the context that opens it given the account's current records.
struct SealedItem: Sendable {
    let vault: VaultKind
    let sealed: [UInt8]
    let context: SealingContext
    /// Whether the touch achieves nothing if this item does not open.
    var isRequired = true
}

/// Prepares a key in its vault while the finger is awaited, so that the user does not wait for the
/// TPM after the match.
///
/// Preparing means loading, not opening: a prepared key still signs only for a `Match`. The creator
/// must call `end()`, which releases what was loaded, also if the preparation finishes only later.
@ServiceActor
final class KeyPreparation {
    /// The item that is prepared along with the key; nil for none.
    let data: SealedItem?
    private let vaults: Vaults
    private var outcome: Result<ReadyItems, VaultError>?
    private var waiting: CheckedContinuation<Void, Never>?
    private var hasEnded = false

    /// Starts to prepare the items in the background.
    ///
    /// - Parameter failed: called later, and only if the vault is out of order, so that waiting for
    ///   a finger is pointless.
    init(
        _ key: SealedItem, data: SealedItem?, in vaults: Vaults,
        failed: @escaping @ServiceActor () -> Void
    ) {
        self.vaults = vaults
        self.data = data
        // Meanwhile the user is asked for a finger, and waits for nothing.
        WaitTeller.$current.withValue(nil) {
            onService { [self] in
                settle(await outcome(key, data: data))
                if case .failure(.trouble) = outcome { failed() }
            }
        }
    }

    /// Waits until the items are prepared; throws the error if they could not be.
    ///
    /// One caller may wait at a time.
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

    /// The error with which the preparation failed; nil if it succeeded or has not finished.
    var failure: VaultError? {
        guard case .failure(let error) = outcome else { return nil }
        return error
    }

    /// Releases the prepared items, including those that become ready only later.
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
        _ key: SealedItem, data: SealedItem?
    ) async -> Result<ReadyItems, VaultError> {
        var items: ReadyItems?
        do throws(VaultError) {
            let ready = try await vaults.call(key.vault) { vault throws(VaultError) in
                try vault.ready(key: key.sealed, context: key.context)
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

    /// Prepares the item to release.
    ///
    /// Throws only if waiting for a finger is pointless, because the item is required and its vault
    /// is out of order. Any other error becomes part of the result.
    private func got(
        _ data: SealedItem
    ) async throws(VaultError) -> Result<any ReadyData, VaultError> {
        do throws(VaultError) {
            return .success(
                try await vaults.call(data.vault) { vault throws(VaultError) in
                    try vault.ready(data: data.sealed, context: data.context)
                })
        } catch .trouble(.platformChanged) {
            // The key opens because it was resealed for the current state of the platform; the item
            // was not resealed.
            return .failure(.trouble(.platformChanged))
        } catch {
            if case .trouble = error, data.isRequired { throw error }
            return .failure(error)
        }
    }
}
