// SPDX-License-Identifier: Apache-2.0

/// The id of a device, 16 bytes: random, and drawn when signetd first starts on a machine.
package struct DeviceID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a credential, 16 random bytes: one for each key that a device issues.
package struct CredentialID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a registration, 16 random bytes: a server's name for one key of one device.
package struct RegistrationID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of an operation that awaits a decision, 16 random bytes that the server draws.
package struct OperationID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of an enrolled print, 16 random bytes.
package struct PrintID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a key that templates are sealed with, 16 random bytes.
package struct StoredTemplateKeyID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a stored secret, 16 random bytes.
package struct SecretID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of the login password that is stored for the keyring, 16 random bytes.
package struct KeyringItemID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a token that signs HTTP requests without a touch, 16 bytes that the server draws.
package struct MACTokenID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}

/// The id of a session that a login at a server began, 16 random bytes.
package struct SessionID: FixedBytes {
    /// The number of bytes.
    package static var count: Int { 16 }
    /// The bytes, 16 of them.
    package let bytes: [UInt8]

    /// Wraps bytes whose number was checked.
    package init(checked bytes: [UInt8]) { self.bytes = bytes }
}
