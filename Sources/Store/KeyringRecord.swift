// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import Vault

/// Why the login password of an account is not kept any more.
package enum KeyringLoss: String, CaseIterable, Sendable {
    /// It is not the account's password any more.
    case passwordChanged = "password-changed"
    /// The fingers changed, and it was not given again.
    case fingersChanged = "fingers-changed"
    /// It does not open.
    case damaged = "damaged"
}

/// A login password, sealed.
struct SealedPassword: Equatable, Sendable {
    let identifier: [UInt8]
    let created: Instant
    /// The vault that opens it.
    var vault: VaultKind
    /// The enrolment state that it was sealed to.
    var enrolment: EnrolmentState
    /// Which password it is.
    let password: PasswordState
    var sealed: SealedContent

    /// The most bytes that a password has.
    static let limit = 1_023
}

/// The record `keyring`: a login password, or why there is none any more.
enum KeyringRecord: LineRecord, Equatable {
    case sealed(SealedPassword)
    case dropped(KeyringLoss, since: Instant)

    static let cap = 8_192

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-keyring", number: 1)
        switch self {
        case .sealed(let password):
            lines.put("state", StaticString("sealed").bytes)
            password.write(to: &lines)
        case .dropped(let loss, let since):
            lines.put("state", StaticString("dropped").bytes)
            lines.put("cause", Array(loss.rawValue.utf8))
            lines.put("since", since.text)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-keyring")
        switch try lines.value("state", cap: 16) {
        case StaticString("sealed").bytes: self = .sealed(try SealedPassword(parsing: &lines))
        case StaticString("dropped").bytes:
            let name = try lines.value("cause", cap: 32)
            guard let loss = KeyringLoss.allCases.first(where: { Array($0.rawValue.utf8) == name })
            else { throw .malformed }
            self = .dropped(loss, since: try lines.instant("since"))
        default: throw .malformed
        }
    }
}

extension SealedPassword {
    fileprivate func write(to lines: inout LineWriter) {
        lines.put("item", Hexadecimal.encode(identifier))
        lines.put("created", created.text)
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put(enrolment: enrolment)
        // Empty where the password is not kept in shadow(5).
        lines.put("password", Hexadecimal.encode(password.digest ?? []))
        lines.put("key", Base64.encode(sealed.key, .url))
        lines.put("content", Base64.encode(sealed.content, .url))
    }

    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        identifier = try lines.hexadecimal("item", count: 16)
        created = try lines.instant("created")
        vault = try lines.vault("vault")
        enrolment = try lines.enrolment()
        let text = try lines.value("password", cap: 2 * PasswordState.count)
        guard let bytes = Hexadecimal.decode(text),
            let password = PasswordState(digest: bytes.isEmpty ? nil : bytes)
        else { throw .malformed }
        self.password = password
        let key = try lines.bytes("key", cap: VaultLimit.sealed)
        let limit = SealedPassword.limit + SealedContent.overhead
        sealed = SealedContent(key: key, content: try lines.bytes("content", cap: limit))
    }
}
