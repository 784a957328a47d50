// SPDX-License-Identifier: Apache-2.0

/// An id of 16 bytes.
///
/// `Subject` says of what; it exists for the compiler alone, which rejects the id of one kind of
/// thing in the place of another's.
package struct Identifier<Subject>: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes; nil unless there are 16 of them.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }
}

/// What ids identify. None of these has a value.
package enum IdentifierSubject {
    /// See `DeviceID`.
    package enum Device {}
    /// See `CredentialID`.
    package enum Credential {}
    /// See `RegistrationID`.
    package enum Registration {}
    /// See `OperationID`.
    package enum Operation {}
    /// See `PrintID`.
    package enum Print {}
    /// See `StoredTemplateKeyID`.
    package enum StoredTemplateKey {}
    /// See `SecretID`.
    package enum Secret {}
    /// See `KeyringItemID`.
    package enum KeyringItem {}
    /// See `MACTokenID`.
    package enum MACToken {}
    /// See `SessionID`.
    package enum Session {}
    /// See `CallbackEventID`.
    package enum CallbackEvent {}
    /// See `SSHKeyID`.
    package enum SSHKey {}
    /// See `LifeID`.
    package enum Life {}
}

/// The id of a device, 16 bytes: random, and drawn when signetd first starts on a machine.
package typealias DeviceID = Identifier<IdentifierSubject.Device>

/// The id of a credential, 16 random bytes: one for each key that a device issues.
package typealias CredentialID = Identifier<IdentifierSubject.Credential>

/// The id of a registration, 16 random bytes: a server's name for one key of one device.
package typealias RegistrationID = Identifier<IdentifierSubject.Registration>

/// The id of an operation that awaits a decision, 16 random bytes that the server draws.
package typealias OperationID = Identifier<IdentifierSubject.Operation>

/// The id of an enrolled print, 16 random bytes.
package typealias PrintID = Identifier<IdentifierSubject.Print>

/// The id of a key that templates are sealed with, 16 random bytes.
package typealias StoredTemplateKeyID = Identifier<IdentifierSubject.StoredTemplateKey>

/// The id of a stored secret, 16 random bytes.
package typealias SecretID = Identifier<IdentifierSubject.Secret>

/// The id of the login password that is stored for the keyring, 16 random bytes.
package typealias KeyringItemID = Identifier<IdentifierSubject.KeyringItem>

/// The id of a token that signs HTTP requests without a touch, 16 bytes that the server draws.
package typealias MACTokenID = Identifier<IdentifierSubject.MACToken>

/// The id of a session that a login at a server began, 16 random bytes.
package typealias SessionID = Identifier<IdentifierSubject.Session>

/// The id of an event that an application is notified of, 16 random bytes that the server draws.
package typealias CallbackEventID = Identifier<IdentifierSubject.CallbackEvent>

/// The id of an account's ssh key, 16 random bytes.
package typealias SSHKeyID = Identifier<IdentifierSubject.SSHKey>

/// The id of the marks of one life of an account, 16 random bytes.
package typealias LifeID = Identifier<IdentifierSubject.Life>
