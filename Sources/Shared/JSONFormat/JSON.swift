// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// A JSON value (RFC 8259).
///
/// It is indirect because Swift 6.2 otherwise reports a circular reference when a target that
/// imports this one is compiled.
package indirect enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number that does not fit `Int64`, in the spelling of the document.
    case decimal(String)
    case string(String)
    case array([JSON])
    /// The members in their order; in an object that was read, each name occurs once.
    case object([(name: String, value: JSON)])
}

extension JSON {
    /// Makes a JSON number from an unsigned integer.
    package static func number(_ number: UInt64) -> JSON {
        Int64(exactly: number).map { .integer($0) } ?? .decimal(String(number))
    }

    /// The value of the object's member with this name; nil if there is none or this is no object.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The number of members of an object; nil if this is another kind of value.
    package var memberCount: Int? {
        if case .object(let members) = self { return members.count }
        return nil
    }

    /// The string; nil if this is another kind of value.
    package var stringValue: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The integer; nil if this is another kind of value.
    package var integerValue: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    /// The boolean; nil if this is another kind of value.
    package var boolValue: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    /// The array's values; nil if this is another kind of value.
    package var arrayValue: [JSON]? {
        if case .array(let values) = self { return values }
        return nil
    }
}

/// Why bytes cannot be read as JSON.
package enum JSONFault: Error, Equatable, Sendable {
    /// They are not JSON in UTF-8 without a byte order mark, or a name is longer than
    /// `longestName`.
    case malformed
    /// Containers are nested more than `JSON.deepest` levels deep.
    case tooDeep
    /// An object has the same name twice.
    case repeatedName
}
