// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Sealing
import SignedFormats

/// A MAC token of an account as stored: a sealed secret, bound to all other fields of the record.
package struct MACToken: Equatable, Sendable {
    /// Whether the token may be used.
    package enum State: String, CaseIterable, Sendable {
        /// It may be used as long as its key is good.
        case good = "good"
        /// It is disabled on this machine; the server must still be told.
        case removing = "removing"
    }

    /// The server's URL in canonical form.
    package let server: [UInt8]
    /// The id of the key whose touch it was issued for, 16 bytes; the token ends with that key.
    package let credential: [UInt8]
    /// The token's id at the server, 16 bytes.
    package let identifier: [UInt8]
    /// The name that the user gave it.
    package let name: [UInt8]
    /// The audience of the texts that it authenticates.
    package let audience: [UInt8]
    /// The time of issue.
    package let created: Instant
    /// The time from which the server rejects it.
    package let expires: Instant
    /// Whether the token may be used.
    package internal(set) var state: State {
        get { writtenState ?? .good }
        set { writtenState = newValue }
    }
    /// The state in the record; nil in a record of a version that knew only `good`.
    private var writtenState: State? = .good
    /// How often, after it expired, its server could not be told that it is disabled.
    var vainTries: UInt64 = 0
    /// The time of the last such failure.
    var lastVain = Instant(seconds: 0)
    var sealed: [UInt8] = []

    /// Describes a token that was just issued; `MACTokenStore.keep` seals the secret.
    package init(
        _ name: [UInt8], for key: ServerKey, identifier: [UInt8], created: Instant,
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

extension MACToken: LineRecord {
    static let cap = 4_096

    /// All lines except the secret, which is sealed to them.
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
        lines.put("server", server)
        lines.put("credential", Hexadecimal.encode(credential))
        lines.put("token", Hexadecimal.encode(identifier))
        lines.put("name", name)
        lines.put("audience", audience)
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
        server = try lines.value("server", cap: 256)
        credential = try lines.hexadecimal("credential", count: 16)
        identifier = try lines.hexadecimal("token", count: 16)
        name = try lines.value("name", cap: Limit.tokenName)
        audience = try lines.value("audience", cap: 256)
        created = try lines.instant("created")
        expires = try lines.instant("expires")
        writtenState = nil
        // Removing the line does not make a token good, since the secret is bound to it.
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
