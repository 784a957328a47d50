// SPDX-License-Identifier: Apache-2.0
/// What a device signs to authenticate one HTTP request, in canonical text.
///
/// Signed in the namespace `request@signet`; docs/developer/PROTOCOL.md tells each line.
package struct RequestStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-request"
    /// The longest text in bytes. The header that carries it holds less.
    package static let maximumLength = 8_192

    /// Who says it to whom.
    package var head: StatementHead
    /// Which request is meant.
    package var request: RequestLines
    /// How it came about.
    package var claims: StatementClaims

    /// All of it; the sizes are checked where the text is read.
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

/// What a MAC token authenticates of one HTTP request, in canonical text.
///
/// HMAC-SHA256 under the token's secret; a server makes the text from the request and the header.
package struct MACText: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-mac"
    /// The longest text in bytes.
    package static let maximumLength = 8_192

    /// The relying party's name.
    package var audience: [UInt8]
    /// The token's id, 16 bytes.
    package var token: [UInt8]
    /// Which request is meant.
    package var request: RequestLines
    /// When it was made.
    package var issued: Instant

    /// All of it; the sizes are checked where the text is read.
    package init(audience: [UInt8], token: [UInt8], request: RequestLines, issued: Instant) {
        self.audience = audience
        self.token = token
        self.request = request
        self.issued = issued
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        lines.put("audience", audience)
        lines.put("token", Hexadecimal.encode(token))
        request.write(to: &lines)
        lines.put("issued", issued)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        audience = try lines.value("audience", cap: 256)
        token = try lines.hexadecimal("token", count: 16)
        request = try RequestLines(reading: &lines)
        issued = try lines.instant("issued")
    }
}
