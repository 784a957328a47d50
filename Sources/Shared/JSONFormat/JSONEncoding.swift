// SPDX-License-Identifier: Apache-2.0

// Encodes Swift values as JSON, in one form: names sorted, absent members left out. Equal values
// therefore give equal bytes.
extension JSON {
    /// Encodes a value of an `Encodable` type; the names of each object are sorted.
    ///
    /// Members that are nil are omitted. Numbers with a fraction are spelled as Swift prints them.
    ///
    /// - Throws: an `EncodingError` for a number that is not finite, or an error of the type's own
    ///   `encode(to:)`.
    package init(encoding value: some Encodable) throws {
        let place = EncodedPlace()
        try value.encode(to: JSONEncoding(place: place, codingPath: []))
        self = place.json
    }
}

/// The place that receives an encoded value; containers fill it after the encoder is gone.
private final class EncodedPlace {
    private enum Content {
        case nothing
        case value(JSON)
        case members([String: EncodedPlace])
        case elements([EncodedPlace])
    }

    private var content = Content.nothing

    var json: JSON {
        switch content {
        // The type has no members.
        case .nothing: .object([])
        case .value(let json): json
        case .members(let members):
            .object(members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) })
        case .elements(let elements): .array(elements.map(\.json))
        }
    }

    var count: Int {
        if case .elements(let elements) = content { return elements.count }
        return 0
    }

    func put(_ json: JSON) { content = .value(json) }

    func beginObject() {
        if case .nothing = content { content = .members([:]) }
    }

    func beginArray() {
        if case .nothing = content { content = .elements([]) }
    }

    func member(_ name: String) -> EncodedPlace {
        let place = EncodedPlace()
        guard case .members(var members) = content else { return place }
        // The content is cleared first, so that the dictionary has one reference and is changed in
        // place.
        content = .nothing
        members[name] = place
        content = .members(members)
        return place
    }

    func element() -> EncodedPlace {
        let place = EncodedPlace()
        guard case .elements(var elements) = content else { return place }
        content = .nothing
        elements.append(place)
        content = .elements(elements)
        return place
    }
}

/// A value that is being encoded.
private struct JSONEncoding: Encoder, SingleValueEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.beginObject()
        return KeyedEncodingContainer(MemberEncoding(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beginArray()
        return ElementEncoding(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() { place.put(.null) }
    func encode(_ value: some Encodable) throws { try value.encode(to: self) }
    func encode(_ value: Bool) { place.put(.bool(value)) }
    func encode(_ value: String) { place.put(.string(value)) }
    func encode(_ value: Float) throws { try encode(Double(value)) }

    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingPath, debugDescription: "JSON has no such number"))
        }
        place.put(.decimal("\(value)"))
    }

    func integer(_ value: some FixedWidthInteger) {
        place.put(Int64(exactly: value).map { .integer($0) } ?? .decimal("\(value)"))
    }

    func encode(_ value: Int) { integer(value) }
    func encode(_ value: Int8) { integer(value) }
    func encode(_ value: Int16) { integer(value) }
    func encode(_ value: Int32) { integer(value) }
    func encode(_ value: Int64) { integer(value) }
    func encode(_ value: UInt) { integer(value) }
    func encode(_ value: UInt8) { integer(value) }
    func encode(_ value: UInt16) { integer(value) }
    func encode(_ value: UInt32) { integer(value) }
    func encode(_ value: UInt64) { integer(value) }
}

/// The members of an object that is being encoded.
private struct MemberEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    private func member(_ key: Key) -> JSONEncoding {
        JSONEncoding(place: place.member(key.stringValue), codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }

    func encode(_ value: some Encodable, forKey key: Key) throws { try member(key).encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        member(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(place: place, codingPath: codingPath) }

    func superEncoder(forKey key: Key) -> any Encoder { member(key) }

    func encode(_ value: Bool, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try member(key).encode(value) }
    func encode(_ value: Int, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) { member(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) { member(key).encode(value) }
}

/// The elements of an array that is being encoded.
private struct ElementEncoding: UnkeyedEncodingContainer {
    let place: EncodedPlace
    let codingPath: [any CodingKey]

    var count: Int { place.count }

    private func element() -> JSONEncoding {
        JSONEncoding(place: place.element(), codingPath: codingPath)
    }

    func encodeNil() { element().encodeNil() }

    func encode(_ value: some Encodable) throws { try element().encode(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }

    func superEncoder() -> any Encoder { element() }

    func encode(_ value: Bool) { element().encode(value) }
    func encode(_ value: String) { element().encode(value) }
    func encode(_ value: Double) throws { try element().encode(value) }
    func encode(_ value: Float) throws { try element().encode(value) }
    func encode(_ value: Int) { element().encode(value) }
    func encode(_ value: Int8) { element().encode(value) }
    func encode(_ value: Int16) { element().encode(value) }
    func encode(_ value: Int32) { element().encode(value) }
    func encode(_ value: Int64) { element().encode(value) }
    func encode(_ value: UInt) { element().encode(value) }
    func encode(_ value: UInt8) { element().encode(value) }
    func encode(_ value: UInt16) { element().encode(value) }
    func encode(_ value: UInt32) { element().encode(value) }
    func encode(_ value: UInt64) { element().encode(value) }
}
