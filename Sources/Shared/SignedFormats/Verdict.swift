// SPDX-License-Identifier: Apache-2.0
import Domain

/// A server's decision on a login.
package enum VerdictDecision: LineWord {
    case allow
    case deny

    /// The word in the line `decision`.
    package var word: StaticString {
        switch self {
        case .allow: "allow"
        case .deny: "deny"
        }
    }
}

/// A server's answer to a PAM module, in canonical text, bound to the module's own challenge.
///
/// It approves or denies one login of one account on one device. The server signs it in the
/// namespace `verdict@signet`; docs/developer/PROTOCOL.md describes each line. `VerdictExpectation`
/// decides whether a verdict approves a login; parsing checks only the form.
package struct Verdict: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-verdict"
    /// The maximum length of a text in bytes.
    package static let maximumLength = 4_096

    /// The server's name.
    package var audience: Audience
    /// The account's name at the server.
    package var account: ServerAccountName
    /// The account's name on the device.
    package var local: AccountName
    /// The device's id.
    package var device: DeviceID
    /// The server's challenge, which the device answered.
    package var challenge: Challenge
    /// The PAM module's own challenge.
    package var module: Challenge
    /// The server's decision.
    package var decision: VerdictDecision
    /// When it was signed.
    package var issued: Instant
    /// When it expires, never before `issued`; the PAM module does not examine it.
    package var expires: Instant

    /// Creates a verdict; sizes are checked only by `init(parsing:)`.
    package init(
        audience: Audience, account: ServerAccountName, local: AccountName, device: DeviceID,
        challenge: Challenge,
        module: Challenge, decision: VerdictDecision, issued: Instant, expires: Instant
    ) {
        self.audience = audience
        self.account = account
        self.local = local
        self.device = device
        self.challenge = challenge
        self.module = module
        self.decision = decision
        self.issued = issued
        self.expires = expires
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        lines.put("audience", name: audience)
        lines.put("account", name: account)
        lines.put("local", name: local)
        lines.put("device", id: device)
        lines.put("challenge", challenge: challenge)
        lines.put("module", challenge: module)
        lines.put("decision", word: decision)
        lines.put("issued", instant: issued)
        lines.put("expires", instant: expires)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        audience = try lines.name("audience", cap: 256)
        account = try lines.name("account", cap: 256)
        local = try lines.name("local", cap: 256)
        device = try lines.identifier("device")
        challenge = try lines.challenge("challenge")
        module = try lines.challenge("module")
        decision = try lines.word("decision")
        issued = try lines.instant("issued")
        expires = try lines.instant("expires")
        guard expires >= issued else { throw .malformed }
    }
}
