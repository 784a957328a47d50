// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Issues a credential for the enrolled fingers: answered by `print` for each, then `done`.
package struct EnableRequest: AccountRequest {
    package static let verb = Verb(5, name: "enable")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)

    /// The account.
    package let account: AccountName
    /// Turns the release of the login password on or off; nil leaves it unchanged.
    package var keyring: Bool? = nil

    package var keepsPassword: Bool { keyring == true }
}

/// Destroys the credential; the fingers stay enrolled.
package struct DisableRequest: AccountRequest {
    package static let verb = Verb(6, name: "disable")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package let account: AccountName
}

/// Lifts a lockout.
package struct UnlockRequest: AccountRequest {
    package static let verb = Verb(7, name: "unlock")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package let account: AccountName
}

/// Issues the credential again, in another vault.
package struct MigrateRequest: AccountRequest {
    package static let verb = Verb(22, name: "migrate")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)

    /// The account.
    package let account: AccountName
    /// The vault to use, `file` or `tpm`.
    package let vault: Bytes
}
