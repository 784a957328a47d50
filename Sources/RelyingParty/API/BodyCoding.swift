// SPDX-License-Identifier: Apache-2.0
import JSONFormat
import ServerAPI

// JSON bodies; an invalid one becomes a problem that names the wrong field.
extension JSON {
    /// Encodes a value with sorted names; if that fails, the result is empty, not `{}`.
    static func encode(_ value: some Encodable) -> [UInt8] {
        guard let json = try? JSON(encoding: value) else { return [] }
        return json.encoded()
    }

    /// Encodes in the same form as `encode(_:)`, but faster.
    static func encode(plain value: some PlainEncodable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    /// Parses and decodes what this server wrote itself, perhaps a later release of it.
    ///
    /// Members that the type does not have are ignored, unlike those of a body.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws(Problem) -> Value {
        try JSON.body(bytes).value(type, refusingUnknown: false)
    }

    /// Parses a body, in which no object may have a name twice; throws `.malformed`, saying why.
    static func body(_ bytes: [UInt8]) throws(Problem) -> JSON {
        do throws(JSONFault) {
            return try JSON(parsing: bytes)
        } catch {
            switch error {
            case .malformed: throw .malformed("the body is not JSON")
            case .tooDeep: throw .malformed("the body is nested too deeply")
            case .repeatedName: throw .malformed("an object in the body has a member twice")
            }
        }
    }

    /// Decodes a parsed body; throws `.malformed`, naming the field that is wrong.
    ///
    /// A member that the type does not have is refused, in nested objects too: ignored, it would
    /// hide a caller's mistake, for example a misspelt limit.
    func value<Value: Decodable>(
        _ type: Value.Type, refusingUnknown: Bool = true
    ) throws(Problem) -> Value {
        do {
            return try decoded(as: type, refusingUnknown: refusingUnknown)
        } catch let error as DecodingError {
            throw .malformed(Self.text(error))
        } catch let error as UnknownMember {
            let name = printable([UInt8](error.path.joined(separator: ".").utf8))
            throw .malformed("'\(name)' is not a member that this call knows")
        } catch let error as FieldFault {
            throw .malformed(error.text)
        } catch let error as InvalidField {
            throw .malformed(error.text)
        } catch {
            throw .malformed("the body does not have the expected members")
        }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "'\(context.field)' has the wrong type"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "the body is not JSON" : "'\(context.field)' is not valid"
        @unknown default: "the body does not have the expected members"
        }
    }
}

/// A request body so frequent that it decodes its own members, without `Codable`.
protocol PlainDecodable: Decodable {
    /// Returns nil if a member is missing, wrong or unknown; `JSON.value` then says what is wrong.
    init?(_ object: JSON)
}

/// An answer so frequent that it encodes itself, without `Codable`.
protocol PlainEncodable: Encodable {
    /// Writes the object, with its names in sorted order.
    func write(to json: inout JSONWriter)
}

extension DecodingError.Context {
    fileprivate var field: String {
        codingPath.last?.stringValue ?? "the body"
    }
}

/// Why the text of a field is invalid, as a message for the caller.
struct FieldFault: Error {
    let text: String
}
