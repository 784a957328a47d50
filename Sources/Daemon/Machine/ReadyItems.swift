// SPDX-License-Identifier: Apache-2.0
import Vault

/// A key, and data if any are to be released with it, that wait for the match.
struct ReadyItems: Sendable {
    let key: any ReadyKey
    let keyVault: VaultKind
    /// What data that are not their vault's say, they say of themselves and not of the key.
    var data: Result<any ReadyData, VaultError>?
    var dataVault: VaultKind?

    /// Gives back the data, if any are ready.
    func releaseData() {
        if case .success(let data) = data { data.release() }
    }
}
