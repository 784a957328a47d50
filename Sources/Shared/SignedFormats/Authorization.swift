// SPDX-License-Identifier: Apache-2.0
import Domain

/// Why an `Authorization` header was rejected.
package enum HeaderFault: Error, Equatable {
    /// The scheme is a different one, so another component may accept the header.
    case anotherScheme
    /// The header is longer than the scheme allows.
    case tooLong
    /// The header is not in its canonical form.
    case malformed
}

/// The header that authenticates a request by a touch: `Signet statement="…", signature="…"`.
///
/// Both values are base64url without padding. There is only one accepted form: these names in this
/// order, one space after the scheme and after each comma, and nothing else. The values are decoded
/// here, but the statement is not parsed and the signature is not verified.
package struct SignetAuthorization: Equatable, Sendable {
    /// The maximum length of a header in bytes, including the scheme.
    package static let maximumLength = 4_096
    /// The name of the scheme, which is case-sensitive.
    package static let scheme: StaticString = "Signet"

    /// The text of the request statement, not parsed.
    package let statement: [UInt8]
    /// The blob of the statement's signature, not parsed.
    package let signature: [UInt8]

    /// Creates a header from a statement's text and its signature's blob.
    package init(statement: [UInt8], signature: [UInt8]) {
        self.statement = statement
        self.signature = signature
    }

    /// The header's value; nil if it would exceed `maximumLength`.
    package var header: [UInt8]? {
        var writer = HeaderWriter(SignetAuthorization.scheme)
        writer.put("statement", Base64.encode(statement, alphabet: .url))
        writer.put("signature", Base64.encode(signature, alphabet: .url))
        return writer.text.count <= SignetAuthorization.maximumLength ? writer.text : nil
    }

    /// Parses a header; accepts exactly what `header` writes.
    ///
    /// Throws `.anotherScheme` unless it begins with the scheme and a space, then `.tooLong` if it
    /// exceeds `maximumLength`, and `.malformed` for any other deviation.
    package init(header: [UInt8]) throws(HeaderFault) {
        var reader = try HeaderReader(
            header, scheme: SignetAuthorization.scheme, cap: SignetAuthorization.maximumLength)
        guard let statement = Base64.decode(try reader.value("statement"), alphabet: .url),
            let signature = Base64.decode(try reader.value("signature"), alphabet: .url)
        else { throw .malformed }
        try reader.end()
        self.statement = statement
        self.signature = signature
    }
}

/// The header that authenticates a request by a MAC token.
///
/// Its form is `SignetMAC token="…", nonce="…", issued="…", mac="…"`, accepted exactly as `header`
/// writes it. The token is hexadecimal, nonce and MAC are base64url. Neither the MAC nor the age
/// nor the nonce is verified here.
package struct MACAuthorization: Equatable, Sendable {
    /// The maximum length of an accepted header in bytes, including the scheme.
    ///
    /// A valid header has exactly 207 bytes.
    package static let maximumLength = 256
    /// The scheme's name.
    package static let scheme: StaticString = "SignetMAC"

    /// The token's id.
    package let token: MACTokenID
    /// The client's nonce, 32 random bytes, used only once.
    package let nonce: [UInt8]
    /// When the header was made.
    package let issued: Instant
    /// The HMAC-SHA256 of the `MACText`, 32 bytes.
    package let mac: [UInt8]

    /// Creates a header; sizes are checked only by `init(header:)`.
    package init(token: MACTokenID, nonce: [UInt8], issued: Instant, mac: [UInt8]) {
        self.token = token
        self.nonce = nonce
        self.issued = issued
        self.mac = mac
    }

    /// The header's value.
    package var header: [UInt8] {
        var writer = HeaderWriter(MACAuthorization.scheme)
        writer.put("token", token.hexadecimal)
        writer.put("nonce", Base64.encode(nonce, alphabet: .url))
        writer.put("issued", issued.text)
        writer.put("mac", Base64.encode(mac, alphabet: .url))
        return writer.text
    }

    /// Parses a header; accepts exactly what `header` writes.
    ///
    /// Throws `.anotherScheme` unless it begins with the scheme and a space, then `.tooLong` if it
    /// exceeds `maximumLength`, and `.malformed` for any other deviation.
    package init(header: [UInt8]) throws(HeaderFault) {
        var reader = try HeaderReader(
            header, scheme: MACAuthorization.scheme, cap: MACAuthorization.maximumLength)
        guard let token = MACTokenID(hexadecimal: try reader.value("token")),
            let nonce = Base64.decode(try reader.value("nonce"), alphabet: .url), nonce.count == 32,
            let issued = Instant(text: try reader.value("issued")),
            let mac = Base64.decode(try reader.value("mac"), alphabet: .url), mac.count == 32
        else { throw .malformed }
        try reader.end()
        self.token = token
        self.nonce = nonce
        self.issued = issued
        self.mac = mac
    }
}

/// Writes `Scheme name="value", name="value"`; no value that is passed needs escaping.
private struct HeaderWriter {
    private(set) var text: [UInt8]
    private var isFirst = true

    init(_ scheme: StaticString) {
        text = scheme.bytes
    }

    mutating func put(_ name: StaticString, _ value: [UInt8]) {
        text += isFirst ? [UInt8(ascii: " ")] : [UInt8(ascii: ","), UInt8(ascii: " ")]
        isFirst = false
        text += name.bytes + [UInt8(ascii: "="), UInt8(ascii: "\"")] + value
        text.append(UInt8(ascii: "\""))
    }
}

/// Reads exactly the form that `HeaderWriter` writes, with the names in the order of the calls.
private struct HeaderReader {
    private let text: [UInt8]
    private var position: Int
    private var isFirst = true

    init(_ text: [UInt8], scheme: StaticString, cap: Int) throws(HeaderFault) {
        let start = scheme.bytes + [UInt8(ascii: " ")]
        guard text.starts(with: start) else { throw .anotherScheme }
        guard text.count <= cap else { throw .tooLong }
        self.text = text
        position = start.count
    }

    mutating func value(_ name: StaticString) throws(HeaderFault) -> [UInt8] {
        if !isFirst { try skip([UInt8(ascii: ","), UInt8(ascii: " ")]) }
        isFirst = false
        try skip(name.bytes + [UInt8(ascii: "="), UInt8(ascii: "\"")])
        let start = position
        while position < text.count, text[position] != UInt8(ascii: "\"") { position += 1 }
        let value = [UInt8](text[start..<position])
        try skip([UInt8(ascii: "\"")])
        return value
    }

    func end() throws(HeaderFault) {
        guard position == text.count else { throw .malformed }
    }

    private mutating func skip(_ expected: [UInt8]) throws(HeaderFault) {
        for byte in expected {
            guard position < text.count, text[position] == byte else { throw .malformed }
            position += 1
        }
    }
}
