// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Stores a secret, which follows in parts: answered by `secretWanted`, then `done`.
package struct SecretSetRequest: AccountRequest {
    package static let verb = Verb(16, name: "secretSet")
    package static let rule = VerbRule(.rootOrAccount)

    /// The account.
    package var account: AccountName
    /// The number of bytes that follow.
    package var size: UInt32  // .count
    /// The name of the secret.
    package var name: Bytes  // .secretName
    /// Whether the secret may replace one with the same name.
    package var replaces: Bool  // .replaces stated

    package var context: RequestContext { RequestContext(secret: name) }
}

/// Carries a part of the secret to be stored; it is valid only after `secretWanted`.
package struct SecretPartRequest: ContinuingRequest {
    package static let verb = Verb(17, name: "secretPart")

    /// The part, which the daemon takes out of the packet instead of decoding it.
    package let part: Bytes  // .secretPart
}

/// Requests a touch that releases a secret: answered by `secretPart` for each part, then `done`.
package struct SecretGetRequest: AccountRequest {
    package static let verb = Verb(18, name: "secretGet")
    package static let rule = VerbRule(.rootOrAccount, touch: .confirming(.secret))
    package static let command = "signet secret get"

    /// The account.
    package let account: AccountName
    /// The name of the secret.
    package let name: Bytes  // .secretName
    /// How long to wait for the touch, in milliseconds.
    package let timeoutMilliseconds: UInt32

    package var context: RequestContext { RequestContext(secret: name) }
}

/// Lists the account's secrets: answered by `secret` for each, then `done`.
package struct SecretListRequest: AccountRequest {
    package static let verb = Verb(19, name: "secretList")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// Deletes a secret.
package struct SecretDeleteRequest: AccountRequest {
    package static let verb = Verb(20, name: "secretDelete")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    /// The account.
    package let account: AccountName
    /// The name of the secret.
    package let name: Bytes  // .secretName

    package var context: RequestContext { RequestContext(secret: name) }
}

extension RequestContext {
    /// `secret NAME`, which the receipt of a released secret contains too.
    fileprivate init(secret name: Bytes) { purpose = Bytes("secret ".utf8) + name }
}

/// Whether a secret can be opened; the raw value is on the wire.
package enum SecretState: UInt8, CaseIterable, Sendable {
    /// The fingers changed after it was stored.
    case stale = 0
    /// It is sealed to the present fingers.
    case fits = 1
    /// The stored data is damaged or altered, or belongs to another account.
    case damaged = 2
}

/// One secret of an account, without its contents.
package struct SecretAnswer: FrameContent {
    /// The name; for a damaged secret without a readable name, the file's name.
    package var name: Bytes  // .secretName
    /// The length in bytes; 0 if it is damaged.
    package var size: UInt32  // .count
    /// When it was stored, in seconds since 1970; 0 if it is damaged.
    package var since: UInt64
    /// The vault that opens it; empty if it is damaged.
    package var vault: Bytes
    /// Whether it can be opened.
    package var state: SecretState  // .done
}

extension Request {
    package static func secretSet(_ request: SecretSetRequest) -> Request { Request(request) }

    package static func secretPart(_ part: Bytes) -> Request {
        Request(SecretPartRequest(part: part))
    }
}

extension Field {
    package static var secretName: Field { Field(17, size: 1...Limit.secretName) }
    package static var replaces: Field { Field(20, size: 1) }
}
