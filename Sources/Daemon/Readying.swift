import Crypto
import Loop
import Posix
import Vault

/// Something sealed, and what opens it as things stand.
struct SealedItem: Sendable {
    let vault: VaultKind
    let sealed: [UInt8]
    let context: SealingContext
}

/// A key, and data if any are to be released with it, that wait for the match.
struct ReadyItems: Sendable {
    let kind: VaultKind
    let key: any ReadyKey
    /// Data that are not the vault's say nothing about the key.
    let data: Result<any ReadyData, VaultError>?

    func release() {
        key.release()
        if case .success(let data) = data { data.release() }
    }
}

/// Gets a key ready while the finger is awaited, so that nobody waits for the vault afterwards.
///
/// All items lie in one vault. Whoever made it calls `end()`.
@ServiceActor
final class Readying {
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
        do throws(VaultError) {
            return .success(
                try await vaults.call(key.vault) { vault throws(VaultError) in
                    try ReadyItems(vault, key, data)
                })
        } catch { return .failure(error) }
    }
}

extension ReadyItems {
    fileprivate init(
        _ vault: any Vault, _ key: SealedItem, _ data: SealedItem?
    ) throws(VaultError) {
        kind = vault.kind
        let key = try vault.ready(key: key.sealed, key.context)
        self.key = key
        guard let data else {
            self.data = nil
            return
        }
        do throws(VaultError) {
            guard data.vault == vault.kind else { throw .malformed }
            self.data = .success(try vault.ready(data: data.sealed, data.context))
        } catch {
            if case .trouble = error {
                key.release()
                throw error
            }
            self.data = .failure(error)
        }
    }
}
