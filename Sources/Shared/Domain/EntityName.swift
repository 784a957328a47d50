// SPDX-License-Identifier: Apache-2.0

/// A name, as the bytes that it is written in; they need not be UTF-8.
///
/// `Subject` says of what; it exists for the compiler alone, which rejects the name of a service in
/// the place of an account's, and an account's name at a server in the place of its name here. A
/// name is not validated: its length is limited where it enters, and a name that does not exist
/// matches nothing.
package struct EntityName<Subject>: Comparable, Hashable, Sendable {
    /// The bytes, as they were given.
    package let bytes: [UInt8]

    /// Wraps bytes as they are.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Takes the bytes of a text.
    package init(_ text: String) {
        self.init([UInt8](text.utf8))
    }

    /// No name, where a format has the field in any case.
    package static var none: Self { Self([]) }

    /// Whether this is no name.
    package var isEmpty: Bool { bytes.isEmpty }

    /// Orders names by their bytes.
    package static func < (one: Self, other: Self) -> Bool {
        one.bytes.lexicographicallyPrecedes(other.bytes)
    }
}

/// What names name. None of these has a value.
package enum NamedEntity {
    /// See `AccountName`.
    package enum Account {}
    /// See `ServerAccountName`.
    package enum ServerAccount {}
    /// See `ServiceName`.
    package enum Service {}
    /// See `ServerURL`.
    package enum Server {}
    /// See `Audience`.
    package enum RelyingParty {}
    /// See `ApplicationName`.
    package enum Application {}
}

/// The name of an account on this machine, as in passwd(5).
package typealias AccountName = EntityName<NamedEntity.Account>

extension EntityName<NamedEntity.Account> {
    /// The longest name of an account in bytes: LOGIN_NAME_MAX of Linux without its NUL.
    package static var longest: Int { 255 }

    /// Whether an account of this name can have fingers.
    ///
    /// It must be a principal, and a word of a command line that is no option.
    package var isUsable: Bool { isPrincipal && bytes.first != UInt8(ascii: "-") }

    /// Whether the name can be a principal in an allowed_signers file; ssh-keygen(1).
    ///
    /// It must be text of 1 to 255 bytes without control characters. `*`, `?`, `!`, `,` and `"` have
    /// meanings of their own there, even in quotes; `:` and `/` do not occur in names of passwd(5).
    package var isPrincipal: Bool {
        guard (1...Self.longest).contains(bytes.count),
            let text = String(validating: bytes, as: UTF8.self)
        else { return false }
        return !text.unicodeScalars.contains {
            $0.properties.generalCategory == .control || "*?!,\":/".unicodeScalars.contains($0)
        }
    }
}

/// The name that a server knows an account by, which may differ from the one on the machine.
package typealias ServerAccountName = EntityName<NamedEntity.ServerAccount>

/// The name of a PAM service, for example `sudo`.
package typealias ServiceName = EntityName<NamedEntity.Service>

extension EntityName<NamedEntity.Service> {
    /// What stands for the service in requests that are not for a PAM service.
    package static var signet: ServiceName { ServiceName("signet") }
}

/// The URL of a Signet server, as a frame, a file or a statement has it.
///
/// It need not be valid. No server is contacted before it has been checked: see
/// `CanonicalServerURL`.
package typealias ServerURL = EntityName<NamedEntity.Server>

/// The name of the relying party that a statement, a verdict or a MAC is for.
package typealias Audience = EntityName<NamedEntity.RelyingParty>

/// The name of the application at a server that a registration and its key are for.
package typealias ApplicationName = EntityName<NamedEntity.Application>
