// SPDX-License-Identifier: Apache-2.0
import Domain
import Sealing
import SignedFormats

/// Why an account's login password is no longer stored.
package enum KeyringLoss: String, CaseIterable, Sendable {
    /// The account has another password now.
    case passwordChanged = "password-changed"
    /// The fingers changed, and the user did not give the password again.
    case fingersChanged = "fingers-changed"
    /// The stored password does not open, or its record is damaged.
    case damaged = "damaged"
}

/// A sealed login password as stored.
struct SealedPassword: Equatable, Sendable {
    let identifier: KeyringItemID
    let created: Instant
    /// The vault that opens it.
    var vault: VaultKind
    /// The enrolment state that it was sealed to.
    var enrolment: EnrolmentState
    /// The state of the account's password when it was sealed.
    let password: PasswordState
    var sealed: SealedContent

    /// The maximum length of a password in bytes.
    static let limit = 1_023
}

/// The record `keyring`: a login password, or the reason why there no longer is one.
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
        lines.put("item", id: identifier)
        lines.put("created", created.text)
        lines.put("vault", Array(vault.rawValue.utf8))
        lines.put(enrolment: enrolment)
        // Empty if the account has no entry in shadow(5).
        lines.put("password", Hexadecimal.encode(password.digest ?? []))
        lines.put("key", Base64.encode(sealed.key, alphabet: .url))
        lines.put("content", Base64.encode(sealed.content, alphabet: .url))
    }

    fileprivate init(parsing lines: inout LineReader) throws(LineFault) {
        identifier = try lines.identifier("item")
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
