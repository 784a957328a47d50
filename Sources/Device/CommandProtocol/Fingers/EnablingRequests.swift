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
    package let keyring: Bool?

    package var keepsPassword: Bool { keyring == true }
}

extension EnableRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.keyring, flagIfPresent: keyring)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        keyring = try frame.flagIfPresent(.keyring)
    }
}

/// Destroys the credential; the fingers stay enrolled.
package struct DisableRequest: PlainAccountRequest {
    package static let verb = Verb(6, name: "disable")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package let account: AccountName

    package init(account: AccountName) { self.account = account }
}

/// Lifts a lockout.
package struct UnlockRequest: PlainAccountRequest {
    package static let verb = Verb(7, name: "unlock")
    package static let rule = VerbRule(.rootOrAccount, proof: .password)
    package static let readsPrints = false

    package let account: AccountName

    package init(account: AccountName) { self.account = account }
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

extension MigrateRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.vault, vault)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        vault = try frame.bytes(.vault)
    }
}

extension Request {
    package static func enable(account: AccountName, keyring: Bool? = nil) -> Request {
        Request(EnableRequest(account: account, keyring: keyring))
    }

    package static func disable(account: AccountName) -> Request {
        Request(DisableRequest(account: account))
    }

    package static func unlock(account: AccountName) -> Request {
        Request(UnlockRequest(account: account))
    }

    package static func migrate(account: AccountName, vault: Bytes) -> Request {
        Request(MigrateRequest(account: account, vault: vault))
    }
}
