// SPDX-License-Identifier: Apache-2.0
import Crypto
import Domain

/// The kind of item that is sealed.
///
/// An item of one kind never opens as an item of another kind.
package enum SealingUse: Equatable, Sendable {
    /// The private key of a credential.
    case credential
    /// A secret of the account with this name.
    case secret(name: [UInt8])
    /// The login password for the keyring.
    case keyring
    /// A key that templates are sealed with.
    ///
    /// It is not bound to fingers, since templates must be readable before a finger can match.
    case templates
    /// A key that signs for a server once the account's password was given.
    ///
    /// It is not bound to fingers, but to the digest of the account's entry in shadow(5), which is
    /// not stored anywhere: a key made for another password does not open.
    case passwordKey(password: [UInt8])

    /// What a key of this kind opens for.
    var opener: KeyOpener {
        switch self {
        case .passwordKey: .password
        case .credential, .secret, .keyring, .templates: .finger
        }
    }
}

/// What a sealed key opens for, apart from the exceptions in `WithoutMatch.swift`.
enum KeyOpener: Equatable, Sendable {
    /// A `Match`.
    case finger
    /// A `PasswordMatch`.
    case password
}

/// Everything that must be unchanged for a sealed item to open.
///
/// Vaults derive the sealing key or the TPM authorisation value from the encoded context. An item
/// opens only in a context that equals the one it was sealed to in every field. Callers compute the
/// context again from the state on disk after the match, so that a change made while the finger was
/// awaited is noticed.
package struct SealingContext: Equatable, Sendable {
    /// The account's login name, as bytes.
    package let account: AccountName
    /// The account's uid.
    package let uid: UInt32
    /// The id of the credential or other item.
    package let item: [UInt8]
    /// The relying party: `local`, `signing`, the URL of a server, or the application of an ssh key.
    package let relyingParty: String
    /// The kind of the item.
    package let use: SealingUse
    /// The enrolled fingers.
    package let enrolment: EnrolmentState

    /// Creates a context. Returns nil unless the name and the relying party have 1 to 255 bytes
    /// each.
    package init?(
        account: AccountName, uid: UInt32, item: some FixedBytes, relyingParty: String,
        use: SealingUse = .credential, enrolment: EnrolmentState
    ) {
        guard (1...255).contains(account.bytes.count), (1...255).contains(relyingParty.utf8.count)
        else { return nil }
        self.account = account
        self.uid = uid
        self.item = item.bytes
        self.relyingParty = relyingParty
        self.use = use
        self.enrolment = enrolment
    }

    /// Returns the context of a template key with this id, which belongs to root and to no
    /// fingers.
    package static func templates(_ identifier: StoredTemplateKeyID) -> SealingContext? {
        let none = [UInt8](repeating: 0, count: SHA256.digestCount)
        guard let enrolment = EnrolmentState(generation: 0, digest: none) else { return nil }
        return SealingContext(
            account: AccountName("root"), uid: 0, item: identifier, relyingParty: "local",
            use: .templates, enrolment: enrolment)
    }

    /// Returns the context of an account's password key for a server.
    ///
    /// `item` is the credential's id, `password` the present state of the account's password.
    /// Returns nil if the account has no entry in shadow(5), because a change of the password would
    /// go unnoticed, and for names of a wrong length.
    package static func passwordKey(
        account: AccountName, uid: UInt32, item: CredentialID, relyingParty: String,
        password: PasswordState
    ) -> SealingContext? {
        let none = [UInt8](repeating: 0, count: SHA256.digestCount)
        guard let digest = password.digest,
            let enrolment = EnrolmentState(generation: 0, digest: none)
        else { return nil }
        return SealingContext(
            account: account, uid: uid, item: item, relyingParty: relyingParty,
            use: .passwordKey(password: digest), enrolment: enrolment)
    }

    /// Returns an unambiguous encoding of all fields, prefixed with a label.
    func encoded(label: StaticString) -> [UInt8] {
        var fields = owner(label)
        fields.append(enrolment.generation)
        fields.append(enrolment.digest)
        append(use, to: &fields)
        return fields.bytes
    }

    /// Returns an unambiguous encoding of all fields except the fingers.
    func encodedWithoutFingers(label: StaticString) -> [UInt8] {
        var fields = owner(label)
        append(use, to: &fields)
        return fields.bytes
    }

    private func owner(_ label: StaticString) -> LengthPrefixed {
        var fields = LengthPrefixed(label: label)
        fields.append(Array(relyingParty.utf8))
        fields.append(UInt64(uid))
        fields.append(account.bytes)
        fields.append(item)
        return fields
    }

    private func append(_ use: SealingUse, to fields: inout LengthPrefixed) {
        // A credential has no field for its use, so that contexts of version 0.1.0 are unchanged.
        switch use {
        case .credential: break
        case .secret(let name):
            fields.append(Array("secret".utf8))
            fields.append(name)
        case .keyring: fields.append(Array("keyring".utf8))
        case .templates: fields.append(Array("templates".utf8))
        case .passwordKey(let password):
            fields.append(Array("password".utf8))
            fields.append(password)
        }
    }
}
