// SPDX-License-Identifier: Apache-2.0
import Domain

/// The user's decision on an operation.
package enum OperationDecision: LineWord {
    case approve
    case reject

    /// The word in the line `decision`.
    package var word: StaticString {
        switch self {
        case .approve: "approve"
        case .reject: "reject"
        }
    }
}

/// The statement by which a user approves or rejects an operation, signed by a device after a
/// touch.
///
/// It contains the exact text that was shown to the user, so that a server can prove which text was
/// approved. Its namespace is `operation@signet`; docs/developer/PROTOCOL.md describes each line.
package struct OperationStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-operation"
    /// The maximum length of a text in bytes.
    package static let maximumLength = 16_000

    /// The audience, account, device and credential.
    package var head: StatementHead
    /// The operation's id.
    package var operation: OperationID
    /// The server's challenge.
    package var challenge: Challenge
    /// The name of the template that produced the text, 0 to 64 bytes.
    package var template: [UInt8]
    /// The exact text that was shown to the user, 0 to 4,096 bytes.
    package var data: [UInt8]
    /// The user's decision.
    package var decision: OperationDecision
    /// How the signature was made.
    package var claims: StatementClaims

    /// Creates a statement; sizes are checked only by `init(parsing:)`.
    package init(
        head: StatementHead, operation: OperationID, challenge: Challenge, template: [UInt8],
        data: [UInt8], decision: OperationDecision, claims: StatementClaims
    ) {
        self.head = head
        self.operation = operation
        self.challenge = challenge
        self.template = template
        self.data = data
        self.decision = decision
        self.claims = claims
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        head.write(to: &lines)
        lines.put("operation", id: operation)
        lines.put("challenge", challenge: challenge)
        lines.put("template", template)
        lines.put("data", data)
        lines.put("decision", word: decision)
        claims.write(to: &lines)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        head = try StatementHead(reading: &lines)
        operation = try lines.identifier("operation")
        challenge = try lines.challenge("challenge")
        template = try lines.value("template", cap: 64)
        data = try lines.value("data", cap: 4_096)
        decision = try lines.word("decision")
        claims = try StatementClaims(reading: &lines)
    }
}
