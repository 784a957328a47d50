// SPDX-License-Identifier: Apache-2.0
/// The statement that a device signs, after a touch, to answer a challenge of any relying party.
///
/// Its namespace is `challenge@signet`; docs/developer/PROTOCOL.md describes each line. The relying
/// party chooses the challenge freely, so it is never signed on its own: it is one line of a
/// statement, where it cannot be mistaken for anything else.
package struct ChallengeStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-challenge"
    /// The maximum length of a text in bytes.
    package static let maximumLength = 8_192
    /// The maximum length of a challenge in bytes.
    package static let longestChallenge = 1_024

    /// The audience, account, device and credential; the account's name is that on the device.
    package var head: StatementHead
    /// The relying party's challenge, unchanged, 1 to 1,024 bytes.
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
