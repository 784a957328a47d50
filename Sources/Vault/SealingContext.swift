// SPDX-License-Identifier: Apache-2.0
import Crypto

/// What is sealed; nothing opens in the place of something else.
package enum SealingUse: Equatable, Sendable {
    /// The private key of a credential.
    case credential
    /// A secret of the account's, by its name.
    case secret(name: [UInt8])
    /// The login password, for the keyring.
    case keyring
    /// The key that templates are sealed with; no fingers open it, they lie behind it.
    case templates
}

/// Everything that must be the same for a sealed key to open again.
package struct SealingContext: Equatable, Sendable {
    /// The account's login name, as bytes.
    package let account: [UInt8]
    /// The account's number.
    package let uid: UInt32
    /// The id of the credential, or of the item that is sealed, 16 bytes.
    package let credential: [UInt8]
    /// Whoever asks for proof, e.g. `local`.
    package let relyingParty: String
    /// What is sealed.
    package let use: SealingUse
    /// The fingers.
    package let enrolment: EnrolmentState

    /// Nil unless the name has 1 to 255 bytes, the id 16 and the relying party 1 to 255.
    package init?(
        account: [UInt8], uid: UInt32, credential: [UInt8], relyingParty: String,
        use: SealingUse = .credential, enrolment: EnrolmentState
    ) {
        guard (1...255).contains(account.count), credential.count == 16,
            (1...255).contains(relyingParty.utf8.count)
        else { return nil }
        self.account = account
        self.uid = uid
        self.credential = credential
        self.relyingParty = relyingParty
        self.use = use
        self.enrolment = enrolment
    }

    /// What a key of templates is sealed to: this machine's daemon, and which key it is (16 bytes).
    ///
    /// Nil for an id of another length.
    package static func templates(_ identifier: [UInt8]) -> SealingContext? {
        let none = [UInt8](repeating: 0, count: SHA256.digestCount)
        guard let enrolment = EnrolmentState(generation: 0, digest: none) else { return nil }
        return SealingContext(
            account: Array("root".utf8), uid: 0, credential: identifier, relyingParty: "local",
            use: .templates, enrolment: enrolment)
    }

    /// All fields under a label, without ambiguity.
    func encoded(label: StaticString) -> [UInt8] {
        var fields = owner(label)
        fields.append(enrolment.generation)
        fields.append(enrolment.digest)
        append(use, to: &fields)
        return fields.bytes
    }

    /// The same without the fingers.
    func encodedWithoutFingers(label: StaticString) -> [UInt8] {
        var fields = owner(label)
        append(use, to: &fields)
        return fields.bytes
    }

    private func owner(_ label: StaticString) -> LengthPrefixed {
        var fields = LengthPrefixed(label: label)
        fields.append(Array(relyingParty.utf8))
        fields.append(UInt64(uid))
        fields.append(account)
        fields.append(credential)
        return fields
    }

    private func append(_ use: SealingUse, to fields: inout LengthPrefixed) {
        // A credential has no such field: its contexts stay as version 0.1.0 made them.
        switch use {
        case .credential: break
        case .secret(let name):
            fields.append(Array("secret".utf8))
            fields.append(name)
        case .keyring: fields.append(Array("keyring".utf8))
        case .templates: fields.append(Array("templates".utf8))
        }
    }
}
