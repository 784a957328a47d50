// SPDX-License-Identifier: Apache-2.0
import Domain

/// The statement that authenticates one HTTP request, signed by a device after a touch.
///
/// It covers the method, the resource, the digest of the body and a nonce that is used once. Its
/// namespace is `request@signet`; docs/developer/PROTOCOL.md describes each line.
/// `SignetAuthorization` is the header that carries it.
package struct RequestStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-request"
    /// The maximum length of a text in bytes; the header that carries it has a lower limit.
    package static let maximumLength = 8_192

    /// The audience, account, device and credential.
    package var head: StatementHead
    /// The request that is authenticated.
    package var request: RequestLines
    /// How the signature was made.
    package var claims: StatementClaims

    /// Creates a statement; sizes are checked only by `init(parsing:)`.
    package init(head: StatementHead, request: RequestLines, claims: StatementClaims) {
        self.head = head
        self.request = request
        self.claims = claims
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        head.write(to: &lines)
        request.write(to: &lines)
        claims.write(to: &lines)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        head = try StatementHead(reading: &lines)
        request = try RequestLines(reading: &lines)
        claims = try StatementClaims(reading: &lines)
    }
}

/// The text by which a MAC token authenticates one HTTP request.
///
/// It is not sent. The client computes its HMAC-SHA256 under the token's secret and sends that in
/// the header (`MACAuthorization`); the server rebuilds the text from the request and the header.
/// The first line differs from that of every signed statement.
package struct MACText: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-mac"
    /// The maximum length of a text in bytes.
    package static let maximumLength = 8_192

    /// The relying party's name.
    package var audience: Audience
    /// The token's id.
    package var token: MACTokenID
    /// The request that is authenticated.
    package var request: RequestLines
    /// When the HMAC was computed.
    package var issued: Instant

    /// Creates a text; sizes are checked only by `init(parsing:)`.
    package init(audience: Audience, token: MACTokenID, request: RequestLines, issued: Instant) {
        self.audience = audience
        self.token = token
        self.request = request
        self.issued = issued
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        lines.put("audience", name: audience)
        lines.put("token", id: token)
        request.write(to: &lines)
        lines.put("issued", instant: issued)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        audience = try lines.name("audience", cap: 256)
        token = try lines.identifier("token")
        request = try RequestLines(reading: &lines)
        issued = try lines.instant("issued")
    }
}
