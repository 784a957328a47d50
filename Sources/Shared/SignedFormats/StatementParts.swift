// SPDX-License-Identifier: Apache-2.0
import Domain

/// The first lines of every statement for a server: the relying party and the signer.
package struct StatementHead: Equatable, Sendable {
    /// The relying party's name.
    package var audience: Audience
    /// The account's name at the relying party.
    package var account: ServerAccountName
    /// The device's id.
    package var device: DeviceID
    /// The credential's id.
    package var credential: CredentialID

    /// Creates the lines; sizes are checked only when a text is parsed.
    package init(
        audience: Audience, account: ServerAccountName, device: DeviceID, credential: CredentialID
    ) {
        self.audience = audience
        self.account = account
        self.device = device
        self.credential = credential
    }

    func write(to lines: inout LineWriter) {
        lines.put("audience", name: audience)
        lines.put("account", name: account)
        lines.put("device", id: device)
        lines.put("credential", id: credential)
    }

    init(reading lines: inout LineReader) throws(LineFault) {
        audience = try lines.name("audience", cap: 256)
        account = try lines.name("account", cap: 256)
        device = try lines.identifier("device")
        credential = try lines.identifier("credential")
    }
}

/// The lines that end every statement of a device for a relying party: how the signature was made.
package struct StatementClaims: Equatable, Sendable {
    /// How the user was authenticated: `fingerprint`, `password`, or `possession` without either;
    /// see `Factor`.
    package var factor: [UInt8]
    /// The device's claims about itself, which prove nothing.
    package var integrity: Integrity
    /// The generation of the account's enrolment.
    package var enrolment: UInt64
    /// The signature counter, which strictly increases from one signature of this credential to the
    /// next.
    package var counter: UInt64
    /// When it was signed.
    package var issued: Instant

    /// Creates the lines from their values.
    package init(
        factor: [UInt8], integrity: Integrity, enrolment: UInt64, counter: UInt64, issued: Instant
    ) {
        self.factor = factor
        self.integrity = integrity
        self.enrolment = enrolment
        self.counter = counter
        self.issued = issued
    }

    func write(to lines: inout LineWriter) {
        lines.put("factor", factor)
        lines.put("key", word: integrity.key)
        lines.put("secure-boot", word: integrity.secureBoot)
        lines.put("enrolment", number: enrolment)
        lines.put("counter", number: counter)
        lines.put("issued", instant: issued)
    }

    init(reading lines: inout LineReader) throws(LineFault) {
        factor = try lines.value("factor", cap: 32)
        integrity = Integrity(
            key: try lines.word("key"), secureBoot: try lines.word("secure-boot"))
        enrolment = try lines.number("enrolment")
        counter = try lines.number("counter")
        issued = try lines.instant("issued")
    }
}

/// The lines that identify an HTTP request, common to request statements and MAC texts.
///
/// The resource is a name that signer and verifier agree on, not necessarily the URL's path. The
/// server must reject a nonce that it has already seen; nothing here can detect that.
package struct RequestLines: Equatable, Sendable {
    /// The method, 1 to 16 upper-case letters, digits and hyphens.
    package var method: [UInt8]
    /// The resource, as signer and verifier name it; 0 to 1,024 bytes.
    package var resource: [UInt8]
    /// The signer's nonce, 32 random bytes, used only once.
    package var nonce: [UInt8]
    /// The SHA-256 of the exact body, 32 bytes.
    package var body: [UInt8]

    /// Whether these bytes can be a request's method: 1 to 16 upper-case letters, digits and
    /// hyphens.
    package static func isMethod(_ bytes: [UInt8]) -> Bool {
        (1...16).contains(bytes.count) && bytes.allSatisfy(isMethodByte)
    }

    static func isMethodByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Creates the lines; sizes are checked only when a text is parsed.
    package init(method: [UInt8], resource: [UInt8], nonce: [UInt8], body: [UInt8]) {
        self.method = method
        self.resource = resource
        self.nonce = nonce
        self.body = body
    }

    func write(to lines: inout LineWriter) {
        lines.put("method", method)
        lines.put("resource", resource)
        lines.put("nonce", Base64.encode(nonce, alphabet: .url))
        lines.put("body", Base64.encode(body, alphabet: .url))
    }

    init(reading lines: inout LineReader) throws(LineFault) {
        method = try lines.method()
        resource = try lines.value("resource", cap: 1_024)
        nonce = try lines.base64("nonce", count: 32)
        body = try lines.base64("body", count: 32)
    }
}
