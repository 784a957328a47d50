// SPDX-License-Identifier: Apache-2.0
import Sealing

/// A prepared key, and the prepared item to release if there is one, waiting for the match.
///
/// They occupy the vault until they are released; see `Vaults.giveBack`.
struct ReadyItems: Sendable {
    let key: any ReadyKey
    let keyVault: VaultKind
    /// The item, or why it could not be prepared.
    ///
    /// A failure says nothing about the key.
    var data: Result<any ReadyData, VaultError>?
    var dataVault: VaultKind?

    /// Releases the item, if one was prepared.
    func releaseData() {
        if case .success(let data) = data { data.release() }
    }
}
