// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Encodes and decodes bodies in JSON (RFC 8259).
enum JSON {
    /// Encodes a value with sorted names. Returns no bytes if that fails, rather than `{}`.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else { return [] }
        return [UInt8](data)
    }

    /// Decodes a value.
    ///
    /// The syntax is checked first by `JSONForm`, since with a repeated name neither value can be
    /// trusted.
    ///
    /// - Throws: `.malformed`, naming the field that is wrong.
    static func decode<Value: Decodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws(Problem) -> Value {
        do throws(JSONForm.Fault) {
            try JSONForm.check(bytes)
        } catch {
            switch error {
            case .malformed: throw .malformed("the body is not JSON")
            case .tooDeep: throw .malformed("the body is too deep")
            case .repeatedName: throw .malformed("an object of the body has a name twice")
            }
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let error as DecodingError {
            throw .malformed(text(error))
        } catch let error as FieldFault {
            throw .malformed(error.text)
        } catch {
            throw .malformed("the body is not the JSON that is wanted")
        }
    }

    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "'\(context.field)' is of another type than wanted"
        case .dataCorrupted(let context):
            context.codingPath.isEmpty
                ? "the body is not JSON" : "'\(context.field)' is not as wanted"
        @unknown default: "the body is not the JSON that is wanted"
        }
    }
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
