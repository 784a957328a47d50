// SPDX-License-Identifier: Apache-2.0
import Domain

/// The statement that answers a server's challenge, signed by a device.
///
/// Its namespace is `login@signet`, or `registration@signet` to prove possession of a key that is
/// being registered; docs/developer/PROTOCOL.md describes each line.
package struct LoginStatement: CanonicalText {
    /// The name of the first line.
    package static let kind: StaticString = "signet-login"
    /// The maximum length of a text in bytes.
    package static let maximumLength = 8_192

    /// The audience, account, device and credential.
    package var head: StatementHead
    /// The server's challenge.
    package var challenge: Challenge
    /// The action that the challenge authorises: one of `LoginAction`, or another word of 1 to 32
    /// lower-case letters, digits and hyphens.
    package var action: [UInt8]
    /// The service that the user logs in to, 0 to 64 bytes.
    package var service: ServiceName
    /// The terminal; empty if there was none.
    package var terminal: [UInt8]
    /// The command or action that was authorised, `ModulePurpose` for a PAM module's verdict, or
    /// `PasswordKeyPurpose` for a new password key; empty if unknown.
    package var purpose: [UInt8]
    /// How the signature was made.
    package var claims: StatementClaims

    /// Creates a statement; sizes are checked only by `init(parsing:)`.
    package init(
        head: StatementHead, challenge: Challenge, action: [UInt8], service: ServiceName,
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
        lines.put("challenge", challenge: challenge)
        lines.put("action", action)
        lines.put("service", name: service)
        lines.put("terminal", terminal)
        lines.put("purpose", purpose)
        claims.write(to: &lines)
    }

    /// Reads every line after the first.
    package init(reading lines: inout LineReader) throws(LineFault) {
        head = try StatementHead(reading: &lines)
        challenge = try lines.challenge("challenge")
        action = try lines.value("action", cap: 32, allowed: LoginAction.isAllowed)
        service = try lines.name("service", cap: 64)
        terminal = try lines.value("terminal", cap: 256)
        purpose = try lines.value("purpose", cap: 1_024)
        claims = try StatementClaims(reading: &lines)
    }
}

/// The `purpose` of a login statement that requests a server's verdict for a PAM module.
///
/// It contains the module's challenge and the account's name on the device. Both are thus signed by
/// the device, so that no process between the module and the server can change either.
package enum ModulePurpose {
    /// The text `module CHALLENGE NAME`, with the challenge in base64url.
    package static func text(_ challenge: Challenge, local: AccountName) -> [UInt8] {
        Array("module ".utf8) + Base64.encode(challenge.bytes, alphabet: .url) + [0x20]
            + local.bytes
    }
}

/// The `purpose` of a statement that registers a password key besides the fingerprint key.
///
/// The fingerprint key signs it, so a person who compares that key's fingerprint has compared both.
package enum PasswordKeyPurpose {
    /// The text `password-key POINT`, with the uncompressed point in base64url.
    package static func text(_ key: PublicKeyPoint) -> [UInt8] {
        Array("password-key ".utf8) + Base64.encode(key.bytes, alphabet: .url)
    }
}

/// The actions that a server issues challenges for; the values of the line `action`.
package enum LoginAction {
    /// Proving possession of a new key, in the namespace `registration@signet`.
    package static var register: [UInt8] { StaticString("register").bytes }
    /// A login.
    package static var login: [UInt8] { StaticString("login").bytes }
    /// Issuing a MAC token.
    package static var macToken: [UInt8] { StaticString("mac-token").bytes }
    /// Replacing the registration's password key, or adding one.
    package static var passwordKey: [UInt8] { StaticString("password-key").bytes }
    /// Unblocking a registration that the server has blocked.
    package static var unblock: [UInt8] { StaticString("unblock").bytes }
    /// Removing a registration by its own device.
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
