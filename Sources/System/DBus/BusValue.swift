// SPDX-License-Identifier: Apache-2.0
/// A D-Bus value with its type.
package indirect enum BusValue: Equatable, Sendable {
    case boolean(Bool)
    case byte(UInt8)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    /// A text in UTF-8 without NUL.
    case string(String)
    /// The path of an object: `/org/freedesktop/login1`.
    case objectPath(String)
    /// A type signature.
    case signature(String)
    /// The index of a descriptor among those that were sent with the message.
    case handle(Int32)
    /// A value that carries its own type.
    case variant(BusValue)
    /// Values of one type, whose signature is `of`.
    case array(of: String, [BusValue])
    case structure([BusValue])
    /// A key and its value, in an array that represents a dictionary.
    case entry(BusValue, BusValue)
}

extension BusValue {
    /// The boolean, if it is one.
    package var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The text, if it is a string.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number, if it is an unsigned 32-bit integer.
    package var uint32: UInt32? {
        if case .uint32(let value) = self { value } else { nil }
    }

    /// The value in the variant, if it is one.
    package var variant: BusValue? {
        if case .variant(let value) = self { value } else { nil }
    }

    /// The D-Bus signature of the type: `b`, `as`, `a{sv}`.
    package var signature: String {
        switch self {
        case .boolean: "b"
        case .byte: "y"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .handle: "h"
        case .variant: "v"
        case .array(let element, _): "a" + element
        case .structure(let members): "(" + members.map(\.signature).joined() + ")"
        case .entry(let key, let value): "{" + key.signature + value.signature + "}"
        }
    }
}
