// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import SignedFormats

/// A form as browsers send it: `application/x-www-form-urlencoded` (WHATWG URL, section 5.1).
///
/// A form has at most eight fields, each with a different name.
struct Form: Equatable, Sendable {
    /// The maximum size of the body in bytes: room for a fully escaped name of 128 bytes and a
    /// token.
    static let limit = 2_048
    private static let mostFields = 8

    private let fields: [String: String]

    /// Checks the size and content type of a request, and parses its form.
    ///
    /// - Throws: `.tooLarge`, `.notForm` or `.malformedForm`.
    init(_ request: HTTPRequest) throws(PageFault) {
        guard request.body.count <= Self.limit else { throw .tooLarge }
        let type = request.header("content-type")?.lowercased() ?? ""
        guard type.prefix(while: { $0 != ";" && $0 != " " }) == "application/x-www-form-urlencoded"
        else { throw .notForm }
        guard let fields = Self.fields(of: request.body) else { throw .malformedForm }
        self.fields = fields
    }

    /// The value of a field; empty if the field is missing.
    subscript(name: String) -> String { fields[name] ?? "" }

    /// Parses names and values; nil for a body that no browser would send.
    static func fields(of body: [UInt8]) -> [String: String]? {
        var fields: [String: String] = [:]
        for part in body.split(separator: UInt8(ascii: "&")) {
            let middle = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            guard let name = decoded(part[..<middle]),
                let value = decoded(part[middle...].dropFirst()),
                fields.updateValue(value, forKey: name) == nil, fields.count <= mostFields
            else { return nil }
        }
        return fields
    }

    /// Decodes `%41` and `+`; nil for a broken escape, a NUL, or a result that is not UTF-8.
    private static func decoded(_ part: ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard rest.count >= 2,
                    let escape = Hexadecimal.decode(
                        [UInt8](
                            String(decoding: rest.prefix(2), as: UTF8.self).lowercased().utf8))
                else { return nil }
                bytes += escape
                rest = rest.dropFirst(2)
            case 0x21...0x7e: bytes.append(byte)
            default: return nil
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
