// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Sealing
import SignedFormats

/// A MAC token of an account as stored: a sealed secret, bound to all other fields of the record.
///
/// A server issues the token after a touch. The token then authenticates texts without a touch, for
/// one audience, until it expires or its key ends.
package struct StoredMACToken: Equatable, Sendable {
    /// Whether a token may be used.
    package enum State: String, CaseIterable, Sendable {
        /// It may be used as long as its key is valid.
        case good = "good"
        /// The token is disabled on this machine, and the server has not been told yet.
        case removing = "removing"
    }

    /// The server's URL in canonical form.
    package let server: ServerURL
    /// The id of the key whose touch the token was issued for.
    ///
    /// The token ends with that key.
    package let credential: CredentialID
    /// The token's id at the server.
    package let identifier: MACTokenID
    /// The name that the user gave it.
    package let name: [UInt8]
    /// The audience of the texts that the token authenticates.
    package let audience: Audience
    /// The time of issue.
    package let created: Instant
    /// The time from which the server rejects the token.
    package let expires: Instant
    /// Whether the token may be used.
    package internal(set) var state: State {
        get { writtenState ?? .good }
        set { writtenState = newValue }
    }
    /// The state in the record; nil in a record of a version that had only `good`.
    private var writtenState: State? = .good
    /// The number of failed attempts, after the token expired, to tell its server that it is
    /// disabled.
    var vainTries: UInt64 = 0
    /// The time of the last failed attempt that was counted.
    var lastVain = Instant(seconds: 0)
    var sealed: [UInt8] = []

    /// Describes a token that was just issued.
    ///
    /// `MACTokenStore.keep` seals its secret.
    package init(
        _ name: [UInt8], for key: ServerKey, identifier: MACTokenID, created: Instant,
        expires: Instant
    ) {
        server = key.server
        credential = key.identifier
        self.identifier = identifier
        self.name = name
        audience = key.audience
        self.created = created
        self.expires = expires
    }
}

extension StoredMACToken: LineRecord {
    static let cap = 4_096

    /// All lines except the sealed secret, which is bound to them.
    var described: [UInt8] {
        var lines = LineWriter()
        write(to: &lines)
        return lines.text
    }

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        write(to: &lines)
        lines.put("secret", Base64.encode(sealed, alphabet: .url))
        return lines.text
    }

    private func write(to lines: inout LineWriter) {
        lines.put("signet-mac-token", number: 1)
        lines.put("server", name: server)
        lines.put("credential", id: credential)
        lines.put("token", id: identifier)
        lines.put("name", name)
        lines.put("audience", name: audience)
        lines.put("created", created.text)
        lines.put("expires", expires.text)
        if let writtenState { lines.put("state", Array(writtenState.rawValue.utf8)) }
        if vainTries > 0 {
            lines.put("vain-tries", number: vainTries)
            lines.put("last-vain", lastVain.text)
        }
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-mac-token")
        server = try lines.name("server", cap: 256)
        credential = try lines.identifier("credential")
        identifier = try lines.identifier("token")
        name = try lines.value("name", cap: Limit.tokenName)
        audience = try lines.name("audience", cap: 256)
        created = try lines.instant("created")
        expires = try lines.instant("expires")
        writtenState = nil
        // Removing the line does not make a token good: the secret is bound to it and no longer
        // opens.
        if lines.isNext("state") {
            let word = String(decoding: try lines.value("state", cap: 16), as: UTF8.self)
            guard let found = State(rawValue: word) else { throw .malformed }
            writtenState = found
        }
        if lines.isNext("vain-tries") {
            vainTries = try lines.number("vain-tries")
            guard vainTries > 0 else { throw .malformed }
            lastVain = try lines.instant("last-vain")
        }
        sealed = try lines.bytes("secret", cap: MACTokenSeal.sealedCount)
    }
}
