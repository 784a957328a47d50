// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Names of MAC tokens that mean something.
package enum MACTokenName {
    /// The token with which `signet operations` reads; only that command obtains and uses it.
    package static let operations = Bytes("signet-operations".utf8)
}

/// Requests a touch that obtains a MAC token from a server: answered by `macToken`, then `done`.
package struct MACTokenAddRequest: AccountRequest {
    package static let verb = Verb(38, name: "macTokenAdd")
    // Not even root may, because anyone who has the token's header acts as the device at the
    // server.
    package static let rule = VerbRule(.account, touch: .confirming(.keySignature))
    package static let command = "signet mac-token"
    package static let loggedCommand = "signet mac-token add"

    /// The account whose finger is used.
    package var account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package var timeoutMilliseconds: UInt32
    /// The server's URL.
    package var server: ServerURL
    /// The token's name, on this device and at the server.
    package var name: Bytes  // .tokenName

    package var context: RequestContext { RequestContext(macToken: name, of: server) }
    package var interruption: ServerInterruption { .shown(by: "mac-token list") }
}

/// Lists the account's MAC tokens, without their secrets: answered by `macToken` for each, then
/// `done`.
package struct MACTokenListRequest: AccountRequest {
    package static let verb = Verb(39, name: "macTokenList")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName
}

/// Deletes a MAC token from this device and from its server.
package struct MACTokenRemoveRequest: AccountRequest {
    package static let verb = Verb(40, name: "macTokenRemove")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    /// The account that owns the token.
    package let account: AccountName
    /// The URL of the server that issued the token.
    package let server: ServerURL
    /// The token's name.
    package let name: Bytes  // .tokenName

    package var context: RequestContext { RequestContext(macToken: name, of: server) }
    package var interruption: ServerInterruption { .shown(by: "mac-token list") }
}

/// Computes the header that authenticates one HTTP request with a MAC token.
///
/// It ends with `authorization`.
package struct MACTokenHeaderRequest: AccountRequest {
    package static let verb = Verb(41, name: "macTokenHeader")
    package static let rule = VerbRule(.account)

    /// The account that owns the token.
    package var account: AccountName
    /// The URL of the server that issued the token.
    package var server: ServerURL
    /// The token's name.
    package var name: Bytes  // .tokenName
    /// The HTTP method.
    package var method: Bytes
    /// The resource, as the receiving service names it.
    package var resource: Bytes
    /// The SHA-256 of the exact body, 32 bytes.
    package var bodyDigest: Bytes  // .messageDigest

    package var context: RequestContext { RequestContext(macToken: name, of: server) }
}

extension RequestContext {
    /// `server URL: MAC token NAME`, which the receipt of the touch contains too.
    fileprivate init(macToken name: Bytes, of server: ServerURL) {
        purpose = Bytes("server ".utf8) + server.bytes + Bytes(": MAC token ".utf8) + name
    }
}

/// One MAC token, without its secret.
package struct MACTokenAnswer: FrameContent {
    /// When it was issued, in seconds since 1970.
    package var since: UInt64
    /// The URL of the server that issued it.
    package var server: ServerURL
    /// When it expires, in seconds since 1970.
    package var expires: UInt64
    /// The token's name.
    package var name: Bytes  // .tokenName
    /// Its id at the server.
    package var token: MACTokenID
}

/// A MAC token as a server issues it, with its secret.
package struct RelayMACToken: FrameContent {
    /// The audience that texts authenticated with it must name.
    package var audience: Audience
    /// When it expires, in seconds since 1970.
    package var expires: UInt64
    /// The token's id.
    package var token: MACTokenID
    /// The HMAC key, 32 bytes.
    package var secret: Bytes  // .tokenSecret
}

extension Request {
    package static func macTokenAdd(_ request: MACTokenAddRequest) -> Request { Request(request) }

    package static func macTokenHeader(_ request: MACTokenHeaderRequest) -> Request {
        Request(request)
    }
}

extension Field {
    package static var tokenName: Field { Field(110, size: 1...Limit.tokenName) }
    package static var tokenSecret: Field { Field(112, size: 32) }
}
