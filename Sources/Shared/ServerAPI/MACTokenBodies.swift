// SPDX-License-Identifier: Apache-2.0
import Domain

/// A signed challenge with which a device asks for a MAC token; its purpose is the token's name.
package struct MACTokenRequest: Codable, Sendable {
    /// The statement.
    package let statement: Binary
    /// Its signature.
    package let signature: Binary
    /// The token's validity in seconds; 30 days if absent.
    package let expiresIn: Int64?

    /// The statement with its signature.
    package var proof: SignedText { SignedText(statement: statement, signature: signature) }
}

/// A new MAC token; the secret is returned only here.
package struct IssuedMACToken: Codable, Sendable {
    /// The token's id.
    package let token: MACTokenID
    /// Its name.
    package let name: String
    /// 32 bytes.
    package let secret: Binary
    /// The audience of the requests that it authenticates.
    package let audience: String
    /// When it expires, in seconds since 1970.
    package let expires: Int64
}
