// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats

/// An id in a body or a path: two hexadecimal digits in lower case for each byte.
package protocol BodyID: FixedBytes, Codable {}

extension Identifier: BodyID {}

extension BodyID {
    /// Parses the digits; nil for anything else.
    package init?(text: String) {
        guard text.utf8.count == 2 * Self.count else { return nil }
        self.init(hexadecimal: [UInt8](text.utf8))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = Self(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not \(2 * Self.count) hexadecimal digits")
        }
        self = id
    }

    /// The digits.
    package var text: String { String(decoding: hexadecimal, as: UTF8.self) }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A challenge in a body: base64url without padding.
extension Challenge: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = [UInt8](try container.decode(String.self).utf8)
        guard let bytes = Base64.decode(text, alphabet: .url), let challenge = Challenge(bytes)
        else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "not \(Self.count) bytes in base64url without padding")
        }
        self = challenge
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64(bytes))
    }
}

/// Bytes, encoded as base64url without padding (RFC 4648, section 5).
package struct Binary: Codable, Equatable, Sendable {
    /// The bytes.
    package let bytes: [UInt8]

    /// Wraps bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = [UInt8](try container.decode(String.self).utf8)
        guard let bytes = Base64.decode(text, alphabet: .url) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not base64url without padding")
        }
        self.bytes = bytes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64(bytes))
    }
}

/// The name of an application, account or template: 1 to 128 bytes without control characters.
///
/// The bytes are UTF-8 and compared as they are, without any normalisation.
package struct Name: Codable, Equatable, Sendable {
    /// The name.
    package let text: String

    /// Returns nil if the text is not a valid name.
    package init?(_ text: String) {
        guard (1...128).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        self.text = text
    }

    /// Decodes a percent-encoded part of a path; nil if it is malformed or not a valid name.
    package init?(decoding part: String) {
        var bytes: [UInt8] = []
        var rest = [UInt8](part.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2,
                let decoded = Hexadecimal.decode(
                    [UInt8](String(decoding: rest.prefix(2), as: UTF8.self).lowercased().utf8))
            else { return nil }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        self.init(text)
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = Name(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not 1 to 128 bytes without control characters")
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A field whose value is wrong, with a message for the sender that says what it must be.
package struct InvalidField: Error {
    /// The message.
    package let text: String
}

/// A device's name in a body.
extension DeviceName: Codable {
    /// What a name consists of, for the sender of another.
    package static let rule = """
        1 to 64 letters and digits of ASCII, spaces and .-_()+, beginning with a letter or digit \
        and not ending with a space
        """

    /// The name.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let name = DeviceName([UInt8](try container.decode(String.self).utf8)) else {
            let field = decoder.codingPath.last?.stringValue ?? "the name"
            throw InvalidField(text: "'\(field)' must be \(Self.rule)")
        }
        self = name
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Two hexadecimal digits in lower case for each byte of an id.
package func hexadecimal(_ id: some FixedBytes) -> String {
    String(decoding: id.hexadecimal, as: UTF8.self)
}

/// Two hexadecimal digits in lower case for each byte.
package func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: Hexadecimal.encode(bytes), as: UTF8.self)
}

/// Base64url without padding; RFC 4648, section 5.
package func base64(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encode(bytes, alphabet: .url), as: UTF8.self)
}
