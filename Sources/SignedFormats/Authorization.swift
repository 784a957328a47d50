// SPDX-License-Identifier: Apache-2.0
/// Why an `Authorization` header was refused.
package enum HeaderFault: Error, Equatable {
    /// It is of another scheme, and somebody else's to read.
    case anotherScheme
    /// It is longer than its cap.
    case tooLong
    /// It is not in the one form that it has.
    case malformed
}

/// The header that carries a request statement: `Signet statement="…", signature="…"`.
package struct SignetAuthorization: Equatable, Sendable {
    /// The longest header in bytes, scheme included.
    package static let maximumLength = 4_096
    /// The scheme's name.
    package static let scheme: StaticString = "Signet"

    /// The request statement's text, unread.
    package let statement: [UInt8]
    /// The blob of its signature, unread.
    package let signature: [UInt8]

    /// Joins both.
    package init(statement: [UInt8], signature: [UInt8]) {
        self.statement = statement
        self.signature = signature
    }

    /// The header's value, or nil if it would be longer than its cap.
    package var header: [UInt8]? {
        var writer = HeaderWriter(SignetAuthorization.scheme)
        writer.put("statement", Base64.encode(statement, .url))
        writer.put("signature", Base64.encode(signature, .url))
        return writer.text.count <= SignetAuthorization.maximumLength ? writer.text : nil
    }

    /// Reads exactly what `header` writes.
    package init(header: [UInt8]) throws(HeaderFault) {
        var reader = try HeaderReader(
            header, SignetAuthorization.scheme, cap: SignetAuthorization.maximumLength)
        guard let statement = Base64.decode(try reader.value("statement"), .url),
            let signature = Base64.decode(try reader.value("signature"), .url)
        else { throw .malformed }
        try reader.end()
        self.statement = statement
        self.signature = signature
    }
}

/// The header of a MAC token: `SignetMAC token="…", nonce="…", issued="…", mac="…"`.
package struct MACAuthorization: Equatable, Sendable {
    /// The longest header in bytes, scheme included. It has 207, always.
    package static let maximumLength = 256
    /// The scheme's name.
    package static let scheme: StaticString = "SignetMAC"

    /// The token's id, 16 bytes.
    package let token: [UInt8]
    /// The client's own random bytes, 32, never used twice.
    package let nonce: [UInt8]
    /// When it was made.
    package let issued: Instant
    /// HMAC-SHA256 of the `MACText`, 32 bytes.
    package let mac: [UInt8]

    /// All of it; the sizes are checked where the header is read.
    package init(token: [UInt8], nonce: [UInt8], issued: Instant, mac: [UInt8]) {
        self.token = token
        self.nonce = nonce
        self.issued = issued
        self.mac = mac
    }

    /// The header's value.
    package var header: [UInt8] {
        var writer = HeaderWriter(MACAuthorization.scheme)
        writer.put("token", Hexadecimal.encode(token))
        writer.put("nonce", Base64.encode(nonce, .url))
        writer.put("issued", issued.text)
        writer.put("mac", Base64.encode(mac, .url))
        return writer.text
    }

    /// Reads exactly what `header` writes.
    package init(header: [UInt8]) throws(HeaderFault) {
        var reader = try HeaderReader(
            header, MACAuthorization.scheme, cap: MACAuthorization.maximumLength)
        guard let token = Hexadecimal.decode(try reader.value("token")), token.count == 16,
            let nonce = Base64.decode(try reader.value("nonce"), .url), nonce.count == 32,
            let issued = Instant(text: try reader.value("issued")),
            let mac = Base64.decode(try reader.value("mac"), .url), mac.count == 32
        else { throw .malformed }
        try reader.end()
        self.token = token
        self.nonce = nonce
        self.issued = issued
        self.mac = mac
    }
}

/// Writes `Scheme name="value", name="value"`; no value needs an escape.
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

/// Reads just that form: the names in their order, one space after scheme and comma.
private struct HeaderReader {
    private let text: [UInt8]
    private var position: Int
    private var isFirst = true

    init(_ text: [UInt8], _ scheme: StaticString, cap: Int) throws(HeaderFault) {
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
