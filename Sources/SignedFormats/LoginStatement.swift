// SPDX-License-Identifier: Apache-2.0
/// What a device signs to answer a server's challenge, in canonical text.
///
/// Signed in the namespace `login@signet`, or in `registration@signet` to prove the possession of
/// a key that is being registered; docs/developer/PROTOCOL.md tells each line.
package struct LoginStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-login"
    /// The longest text in bytes.
    package static let maximumLength = 8_192

    /// Who says it to whom.
    package var head: StatementHead
    /// The server's challenge, 32 bytes.
    package var challenge: [UInt8]
    /// What the challenge is for: one of `LoginAction`, or another word of 1 to 32 lower-case
    /// letters, digits and hyphens.
    package var action: [UInt8]
    /// The service that is logged in to, 0 to 64 bytes.
    package var service: [UInt8]
    /// The terminal, empty if there was none.
    package var terminal: [UInt8]
    /// What was confirmed, empty if nothing was said.
    package var purpose: [UInt8]
    /// How it came about.
    package var claims: StatementClaims

    /// All of it; the sizes are checked where the text is read.
    package init(
        head: StatementHead, challenge: [UInt8], action: [UInt8], service: [UInt8],
        terminal: [UInt8], purpose: [UInt8], claims: StatementClaims
    ) {
        self.head = head
        self.challenge = challenge
        self.action = action
        self.service = service
        self.terminal = terminal
        self.purpose = purpose
        self.claims = claims
    }

    /// Writes every line after the first.
    package func write(to lines: inout LineWriter) {
        head.write(to: &lines)
        lines.put("challenge", Base64.encode(challenge, .url))
        lines.put("action", action)
        lines.put("service", service)
        lines.put("terminal", terminal)
        lines.put("purpose", purpose)
        claims.write(to: &lines)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        head = try StatementHead(reading: &lines)
        challenge = try lines.base64("challenge", count: 32)
        action = try lines.value("action", cap: 32, allowed: LoginAction.isAllowed)
        service = try lines.value("service", cap: 64)
        terminal = try lines.value("terminal", cap: 256)
        purpose = try lines.value("purpose", cap: 1_024)
        claims = try StatementClaims(reading: &lines)
    }
}

/// What a login statement has as `purpose` where a PAM module wants the server's verdict: the module's
/// challenge and the account's name on the device, so that whoever carries both changes neither.
package enum ModulePurpose {
    /// `module CHALLENGE NAME`.
    package static func text(_ challenge: [UInt8], _ local: [UInt8]) -> [UInt8] {
        Array("module ".utf8) + Base64.encode(challenge, .url) + [0x20] + local
    }
}

/// What a challenge may be for, as a login statement says it.
package enum LoginAction {
    /// The proof that a new key is held; in the namespace `registration@signet`.
    package static var register: [UInt8] { StaticString("register").bytes }
    /// A login.
    package static var login: [UInt8] { StaticString("login").bytes }
    /// A MAC token is issued.
    package static var macToken: [UInt8] { StaticString("mac-token").bytes }
    /// A blocked registration is opened again.
    package static var unblock: [UInt8] { StaticString("unblock").bytes }
    /// A registration is removed by its own device.
    package static var remove: [UInt8] { StaticString("remove").bytes }

    static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
