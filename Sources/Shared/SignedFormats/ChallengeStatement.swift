// SPDX-License-Identifier: Apache-2.0
/// The statement that answers a challenge of any relying party, signed by a device after a touch.
///
/// Its namespace is `challenge@signet`; docs/developer/PROTOCOL.md describes each line. The relying
/// party chooses the challenge, so it is one line among others and is never signed on its own.
package struct ChallengeStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-challenge"
    /// The longest text in bytes.
    package static let maximumLength = 8_192
    /// The longest challenge in bytes.
    package static let longestChallenge = 1_024

    /// The audience, account, device and credential; the account's name is the one on the device.
    package var head: StatementHead
    /// The challenge as given, 1 to 1,024 bytes.
    package var challenge: [UInt8]
    /// How the signature was made.
    package var claims: StatementClaims

    /// Creates a statement; sizes are checked only by `init(parsing:)`.
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
