// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

/// Stores a secret, which follows in parts: answered by `secretWanted`, then `done`.
package struct SecretSetRequest: AccountRequest {
    package static let verb = Verb(16, name: "secretSet")
    package static let rule = VerbRule(.rootOrAccount)

    /// The account.
    package var account: AccountName
    /// The number of bytes that follow.
    package var size: UInt32
    /// The name of the secret.
    package var name: Bytes
    /// Whether the secret may replace one with the same name.
    package var replaces: Bool

    package var context: RequestContext { RequestContext(secret: name) }

    /// Creates a request.
    package init(account: AccountName, size: UInt32, name: Bytes, replaces: Bool) {
        self.account = account
        self.size = size
        self.name = name
        self.replaces = replaces
    }

    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.count, number: size)
        try frame.put(.secretName, name)
        try frame.put(.replaces, flagIfPresent: replaces)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        size = try frame.number(.count)
        name = try frame.bytes(.secretName)
        guard let flag = try frame.flagIfPresent(.replaces) else { throw .unexpectedField }
        replaces = flag
    }
}

/// Carries a part of the secret to be stored; it is valid only after `secretWanted`.
package struct SecretPartRequest: ContinuingRequest {
    package static let verb = Verb(17, name: "secretPart")

    /// The part, which the daemon takes out of the packet instead of decoding it.
    package let part: Bytes
}

extension SecretPartRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.secretPart, part)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        part = try frame.bytes(.secretPart)
    }
}

/// Requests a touch that releases a secret: answered by `secretPart` for each part, then `done`.
package struct SecretGetRequest: AccountRequest {
    package static let verb = Verb(18, name: "secretGet")
    package static let rule = VerbRule(.rootOrAccount, touch: .confirming(.secret))
    package static let command = "signet secret get"

    /// The account.
    package let account: AccountName
    /// How long to wait for the touch, in milliseconds.
    package let timeoutMilliseconds: UInt32
    /// The name of the secret.
    package let name: Bytes

    package var context: RequestContext { RequestContext(secret: name) }
}

extension SecretGetRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.timeoutMilliseconds, number: timeoutMilliseconds)
        try frame.put(.secretName, name)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        timeoutMilliseconds = try frame.number(.timeoutMilliseconds)
        name = try frame.bytes(.secretName)
    }
}

/// Lists the account's secrets: answered by `secret` for each, then `done`.
package struct SecretListRequest: PlainAccountRequest {
    package static let verb = Verb(19, name: "secretList")
    package static let rule = VerbRule(.rootOrAccount)

    package let account: AccountName

    package init(account: AccountName) { self.account = account }
}

/// Deletes a secret.
package struct SecretDeleteRequest: AccountRequest {
    package static let verb = Verb(20, name: "secretDelete")
    package static let rule = VerbRule(.rootOrAccount)
    package static let readsPrints = false

    /// The account.
    package let account: AccountName
    /// The name of the secret.
    package let name: Bytes

    package var context: RequestContext { RequestContext(secret: name) }
}

extension SecretDeleteRequest {
    package func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(accountName: account)
        try frame.put(.secretName, name)
    }

    package init(from frame: inout FrameReader) throws(WireFault) {
        account = try frame.accountName()
        name = try frame.bytes(.secretName)
    }
}

extension RequestContext {
    /// `secret NAME`, which the receipt of a released secret contains too.
    fileprivate init(secret name: Bytes) { purpose = Bytes("secret ".utf8) + name }
}

/// Whether a secret can be opened; the raw value is on the wire.
package enum SecretState: UInt8, CaseIterable, Sendable {
    /// The fingers changed after it was stored.
    case stale = 0
    /// It is sealed to the present fingers.
    case fits = 1
    /// The stored data is damaged or altered, or belongs to another account.
    case damaged = 2
}

/// One secret of an account, without its contents.
package struct SecretAnswer: Equatable, Sendable {
    /// The name; for a damaged secret without a readable name, the file's name.
    package var name: Bytes
    /// The length in bytes; 0 if it is damaged.
    package var size: UInt32
    /// When it was stored, in seconds since 1970; 0 if it is damaged.
    package var since: UInt64
    /// The vault that opens it; empty if it is damaged.
    package var vault: Bytes
    /// Whether it can be opened.
    package var state: SecretState

    /// Creates an answer.
    package init(name: Bytes, size: UInt32, since: UInt64, vault: Bytes, state: SecretState) {
        self.name = name
        self.size = size
        self.since = since
        self.vault = vault
        self.state = state
    }

    func put(into frame: inout FrameWriter) throws(WireFault) {
        try frame.put(.count, number: size)
        try frame.put(.secretName, name)
        try frame.put(.since, number: since)
        try frame.put(.done, number: state.rawValue)
        try frame.put(.vault, vault)
    }

    init(from frame: inout FrameReader) throws(WireFault) {
        let size: UInt32 = try frame.number(.count)
        let name = try frame.bytes(.secretName)
        let since: UInt64 = try frame.number(.since)
        let state: SecretState = try frame.choice(.done)
        self.init(
            name: name, size: size, since: since, vault: try frame.bytes(.vault), state: state)
    }
}

extension Request {
    package static func secretSet(_ request: SecretSetRequest) -> Request { Request(request) }

    package static func secretPart(_ part: Bytes) -> Request {
        Request(SecretPartRequest(part: part))
    }

    package static func secretGet(
        account: AccountName, name: Bytes, timeoutMilliseconds: UInt32
    ) -> Request {
        Request(
            SecretGetRequest(
                account: account, timeoutMilliseconds: timeoutMilliseconds, name: name))
    }

    package static func secretList(account: AccountName) -> Request {
        Request(SecretListRequest(account: account))
    }

    package static func secretDelete(account: AccountName, name: Bytes) -> Request {
        Request(SecretDeleteRequest(account: account, name: name))
    }
}

extension Field {
    package static var secretName: Field { Field(17, size: 1...Limit.secretName) }
    package static var replaces: Field { Field(20, size: 1) }
}
