// SPDX-License-Identifier: Apache-2.0
/// An object has a member that the type has no coding key for.
package struct UnknownMember: Error, Equatable, Sendable {
    /// The names of the members that lead to it, and its own, outermost first.
    package let path: [String]
}

extension JSON {
    /// Decodes a value of a `Decodable` type, as Foundation's `JSONDecoder` does.
    ///
    /// - Parameter refusingUnknown: whether objects, nested ones too, may have only members that are
    ///   coding keys of their type; otherwise, others are ignored.
    /// - Throws: a `DecodingError` whose coding path names the member that is wrong, `UnknownMember`,
    ///   or an error of the type's own `init(from:)`.
    package func decoded<Value: Decodable>(
        as type: Value.Type, refusingUnknown: Bool = false
    ) throws -> Value {
        try JSONDecoding(json: self, refusesUnknown: refusingUnknown, codingPath: []).decode(type)
    }
}

/// A value that is being decoded.
private struct JSONDecoding: Decoder, SingleValueDecodingContainer {
    let json: JSON
    let refusesUnknown: Bool
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(
        keyedBy type: Key.Type
    ) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = json else { throw mismatch([String: JSON].self) }
        if refusesUnknown, let unknown = members.first(where: { !isKey($0.name, of: type) }) {
            throw UnknownMember(path: codingPath.map(\.stringValue) + [unknown.name])
        }
        return KeyedDecodingContainer(
            MemberDecoding(
                members: members, refusesUnknown: refusesUnknown, codingPath: codingPath))
    }

    /// Whether a name is a coding key byte by byte: as strings, `K` and the Kelvin sign are equal.
    private func isKey(_ name: String, of type: (some CodingKey).Type) -> Bool {
        type.init(stringValue: name)?.stringValue.utf8.elementsEqual(name.utf8) ?? false
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = json else { throw mismatch([JSON].self) }
        return ElementDecoding(
            elements: elements, refusesUnknown: refusesUnknown, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool {
        if case .null = json { return true }
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
    }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = json else { throw mismatch(type) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = json else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch json {
        case .integer(let number): return Double(number)
        case .decimal(let text): return try fitting(Double(text))
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    /// Decodes an integer, which may also be spelled with a fraction of zero or an exponent.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
        switch json {
        case .integer(let number): return try fitting(Value(exactly: number))
        case .decimal(let text):
            return try fitting(Value(text) ?? Double(text).flatMap { Value(exactly: $0) })
        default: throw mismatch(type)
        }
    }

    private func fitting<Value>(_ value: Value?) throws -> Value {
        guard let value else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "the number does not fit"))
        }
        return value
    }

    private func mismatch(_ type: any Any.Type) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "a value of another type")
        return decodeNil() ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
}

/// The members of an object that is being decoded.
private struct MemberDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [(name: String, value: JSON)]
    let refusesUnknown: Bool
    let codingPath: [any CodingKey]

    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.name) } }

    func contains(_ key: Key) -> Bool { members.contains { $0.name == key.stringValue } }

    private func value(_ key: Key) throws -> JSONDecoding {
        guard let member = members.first(where: { $0.name == key.stringValue }) else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(codingPath: codingPath, debugDescription: "it is missing"))
        }
        return JSONDecoding(
            json: member.value, refusesUnknown: refusesUnknown, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try value(key).decodeNil() }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try value(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { throw JSONFault.malformed }

    func superDecoder(forKey key: Key) throws -> any Decoder { try value(key) }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try value(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        try value(key).decode(type)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try value(key).decode(type)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try value(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try value(key).decode(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try value(key).decode(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try value(key).decode(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try value(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try value(key).decode(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try value(key).decode(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try value(key).decode(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try value(key).decode(type)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try value(key).decode(type)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try value(key).decode(type)
    }
}

/// The elements of an array that is being decoded, one after another.
private struct ElementDecoding: UnkeyedDecodingContainer {
    let elements: [JSON]
    let refusesUnknown: Bool
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [JSON], refusesUnknown: Bool, codingPath: [any CodingKey]) {
        self.elements = elements
        self.refusesUnknown = refusesUnknown
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private func current() throws -> JSONDecoding {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                JSON.self,
                DecodingError.Context(
                    codingPath: codingPath, debugDescription: "the array has ended"))
        }
        // The path of a fault names the array's member, but not the index.
        return JSONDecoding(
            json: elements[currentIndex], refusesUnknown: refusesUnknown, codingPath: codingPath)
    }

    /// Passes the next element to `use`; it remains the next one if that fails.
    private mutating func next<Value>(_ use: (JSONDecoding) throws -> Value) throws -> Value {
        let value = try use(try current())
        currentIndex += 1
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try current().decodeNil() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.decode(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next { try $0.decode(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.decode(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next { try $0.decode(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next { try $0.decode(type) } }
}
