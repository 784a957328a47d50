// SPDX-License-Identifier: Apache-2.0
/// A value of D-Bus, with its type.
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
    /// UTF-8 without NUL.
    case string(String)
    /// The path of an object, `/org/freedesktop/login1`.
    case objectPath(String)
    /// The signature of types.
    case signature(String)
    /// The place of a descriptor among those that came with the message.
    case handle(Int32)
    /// A value that says its own type.
    case variant(BusValue)
    /// Values of one type, by its signature.
    case array(of: String, [BusValue])
    case structure([BusValue])
    /// A key and its value, in an array that stands for a dictionary.
    case entry(BusValue, BusValue)
}

extension BusValue {
    /// The value inside, if it is a boolean.
    package var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The value inside, if it is a text.
    package var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The value inside, if it is a number of 32 bits without a sign.
    package var uint32: UInt32? {
        if case .uint32(let value) = self { value } else { nil }
    }

    /// The value inside, if it says its own type.
    package var variant: BusValue? {
        if case .variant(let value) = self { value } else { nil }
    }

    /// The type, as D-Bus signs it: `b`, `as`, `a{sv}`.
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
