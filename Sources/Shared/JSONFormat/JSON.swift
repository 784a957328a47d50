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
    /// A number that is no `Int64`, as it is spelled.
    case decimal(String)
    case string(String)
    case array([JSON])
    /// The members in their order; each name occurs once in an object that was read.
    case object([(name: String, value: JSON)])
}

extension JSON {
    /// A number without a sign.
    package static func number(_ number: UInt64) -> JSON {
        Int64(exactly: number).map { .integer($0) } ?? .decimal(String(number))
    }

    /// The value of an object's member; nil if there is none of this name, and for other values.
    package subscript(name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The string that this is; nil for other values.
    package var stringValue: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    /// The integer that this is; nil for other values.
    package var integerValue: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }

    /// Whether this is `true` or `false`; nil for other values.
    package var boolValue: Bool? {
        if case .bool(let value) = self { return value }
        return nil
    }

    /// The values of the array that this is; nil for other values.
    package var arrayValue: [JSON]? {
        if case .array(let values) = self { return values }
        return nil
    }
}

/// Why bytes are not read as JSON.
package enum JSONFault: Error, Equatable, Sendable {
    /// They are not JSON in UTF-8, without a byte order mark.
    case malformed
    /// There are more than `JSON.deepest` containers in each other.
    case tooDeep
    /// An object has a name twice.
    case repeatedName
}
