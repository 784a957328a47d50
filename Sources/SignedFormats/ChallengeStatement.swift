// SPDX-License-Identifier: Apache-2.0
/// What a device signs to answer a challenge of anybody's, in canonical text.
///
/// Signed in the namespace `challenge@signet`; docs/developer/PROTOCOL.md tells each line. Whoever asks chooses
/// the challenge, so it stands in a line of its own among others, and never alone under a signature.
package struct ChallengeStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-challenge"
    /// The longest text in bytes.
    package static let maximumLength = 8_192
    /// The longest challenge in bytes.
    package static let longestChallenge = 1_024

    /// Who says it to whom; the account's name is that on the device.
    package var head: StatementHead
    /// The challenge as it was given, 1 to 1,024 bytes.
    package var challenge: [UInt8]
    /// How it came about.
    package var claims: StatementClaims

    /// All of it; the sizes are checked where the text is read.
    package init(head: StatementHead, challenge: [UInt8], claims: StatementClaims) {
        self.head = head
        self.challenge = challenge
        self.claims = claims
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        head.write(to: &lines)
        lines.put("challenge", challenge)
        claims.write(to: &lines)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        head = try StatementHead(reading: &lines)
        challenge = try lines.value("challenge", cap: Self.longestChallenge) { _ in true }
        claims = try StatementClaims(reading: &lines)
    }
}
