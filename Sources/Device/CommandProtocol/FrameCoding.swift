// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import SSHProtocol

/// What a frame contains, declared once: as stored properties.
///
/// `Plugins/messages.awk` says how these become fields. Before the target is compiled, it writes the
/// rest of each such structure: an initialiser with the properties in their order, and the two
/// functions below. Every content has exactly one encoding.
package protocol FrameContent: Equatable, Sendable {
    /// Appends the fields to a frame; throws if a value does not fit its field.
    func put(into frame: inout FrameWriter) throws(WireFault)
    /// Reads the fields from a frame, but not the frame's end; throws if they are malformed.
    init(from frame: inout FrameReader) throws(WireFault)
}

/// A value that a field holds as bytes of its own form.
package protocol FieldValue {
    /// The bytes on the wire.
    var bytes: Bytes { get }
    /// Reads what `bytes` writes; nil for anything else.
    init?(bytes: Bytes)
}

extension DeviceName: FieldValue {
    package init?(bytes: Bytes) { self.init(bytes) }
}

extension SSHKeyName: FieldValue {
    package init?(bytes: Bytes) { self.init(bytes) }
}

// How a property's value is written: one function for each form that values have. Each agrees with
// its counterpart in FrameReader on when a field is left out.
extension FrameWriter {
    mutating func put(_ field: Field, value: Bytes) throws(WireFault) { try put(field, value) }

    mutating func put(_ field: Field, value: some FixedBytes) throws(WireFault) {
        try put(field, value)
    }

    mutating func put(
        _ field: Field, value: some FixedWidthInteger & UnsignedInteger
    ) throws(WireFault) { try put(field, number: value) }

    mutating func put<Value: RawRepresentable>(
        _ field: Field, value: Value
    ) throws(WireFault) where Value.RawValue: FixedWidthInteger & UnsignedInteger {
        try put(field, number: value.rawValue)
    }

    mutating func put(_ field: Field, value: EntityName<some Any>) throws(WireFault) {
        try put(field, name: value)
    }

    /// The name of the account that a frame is about must be one that passwd(5) can contain.
    mutating func put(_ field: Field, value: AccountName) throws(WireFault) {
        if field == .account { try put(accountName: value) } else { try put(field, name: value) }
    }

    mutating func put(_ field: Field, value: some FieldValue) throws(WireFault) {
        try put(field, value.bytes)
    }

    /// The factor that confirms a request is left out if it is a touch.
    mutating func put(_ field: Field, value: ConfirmingFactor) throws(WireFault) {
        guard field != .factor || value != .finger else { return }
        try put(field, number: value.rawValue)
    }

    /// Appends a flag as 0 or 1, unless it is nil.
    mutating func put(_ field: Field, flagIfPresent flag: Bool?) throws(WireFault) {
        if let flag { try put(field, number: UInt8(flag ? 1 : 0)) }
    }

    /// Appends a flag if it is set.
    mutating func put(_ field: Field, ifSet flag: Bool) throws(WireFault) {
        if flag { try put(field, number: UInt8(1)) }
    }
}

extension FrameReader {
    mutating func value(_ field: Field) throws(WireFault) -> Bytes { try bytes(field) }

    mutating func value<Value: FixedBytes>(_ field: Field) throws(WireFault) -> Value {
        try fixed(field)
    }

    mutating func value<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field
    ) throws(WireFault) -> Number { try number(field) }

    mutating func value<Value: RawRepresentable>(
        _ field: Field
    ) throws(WireFault) -> Value where Value.RawValue: FixedWidthInteger & UnsignedInteger {
        guard let value: Value = try valueIfPresent(field) else { throw .unexpectedField }
        return value
    }

    mutating func value<Subject>(_ field: Field) throws(WireFault) -> EntityName<Subject> {
        try name(field)
    }

    mutating func value(_ field: Field) throws(WireFault) -> AccountName {
        guard let name: AccountName = try valueIfPresent(field) else { throw .unexpectedField }
        return name
    }

    mutating func value<Value: FieldValue>(_ field: Field) throws(WireFault) -> Value {
        guard let value: Value = try valueIfPresent(field) else { throw .unexpectedField }
        return value
    }

    mutating func value(_ field: Field) throws(WireFault) -> ConfirmingFactor {
        guard let factor: ConfirmingFactor = try valueIfPresent(field) else {
            guard field == .factor else { throw .unexpectedField }
            return .finger
        }
        guard field != .factor || factor != .finger else { throw .malformedValue }
        return factor
    }

    mutating func valueIfPresent(_ field: Field) throws(WireFault) -> Bytes? {
        try bytesIfPresent(field)
    }

    mutating func valueIfPresent<Value: FixedBytes>(_ field: Field) throws(WireFault) -> Value? {
        guard let bytes = try bytesIfPresent(field) else { return nil }
        guard let value = Value(bytes) else { throw .malformedValue }
        return value
    }

    mutating func valueIfPresent<Number: FixedWidthInteger & UnsignedInteger>(
        _ field: Field
    ) throws(WireFault) -> Number? { try numberIfPresent(field) }

    mutating func valueIfPresent<Value: RawRepresentable>(
        _ field: Field
    ) throws(WireFault) -> Value? where Value.RawValue: FixedWidthInteger & UnsignedInteger {
        guard let number = try numberIfPresent(field, as: Value.RawValue.self) else { return nil }
        guard let value = Value(rawValue: number) else { throw .malformedValue }
        return value
    }

    mutating func valueIfPresent<Subject>(
        _ field: Field
    ) throws(WireFault) -> EntityName<Subject>? { try nameIfPresent(field) }

    mutating func valueIfPresent(_ field: Field) throws(WireFault) -> AccountName? {
        guard let name: AccountName = try nameIfPresent(field) else { return nil }
        guard field != .account || name.isPlausible else { throw .malformedValue }
        return name
    }

    mutating func valueIfPresent<Value: FieldValue>(_ field: Field) throws(WireFault) -> Value? {
        guard let bytes = try bytesIfPresent(field) else { return nil }
        guard let value = Value(bytes: bytes) else { throw .malformedValue }
        return value
    }

    /// Reads a flag, which must be there and be 0 or 1.
    mutating func flag(_ field: Field) throws(WireFault) -> Bool {
        guard let flag = try flagIfPresent(field) else { throw .unexpectedField }
        return flag
    }

    /// Reads a flag, which must be 0 or 1; nil if the field is absent.
    mutating func flagIfPresent(_ field: Field) throws(WireFault) -> Bool? {
        guard let flag = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard flag <= 1 else { throw .malformedValue }
        return flag == 1
    }

    /// Reads a flag that is present only if it is set, and must then be 1.
    mutating func isSet(_ field: Field) throws(WireFault) -> Bool {
        guard let flag = try numberIfPresent(field, as: UInt8.self) else { return false }
        guard flag == 1 else { throw .malformedValue }
        return true
    }

    /// Reads a value of a fixed set; nil if the field is absent.
    mutating func choiceIfPresent<Value: RawRepresentable>(
        _ field: Field
    ) throws(WireFault) -> Value? where Value.RawValue == UInt8 {
        guard let number = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard let value = Value(rawValue: number) else { throw .malformedValue }
        return value
    }

    /// Reads an account's name; throws if passwd(5) cannot contain it.
    mutating func accountName() throws(WireFault) -> AccountName {
        let name: AccountName = try name(.account)
        guard name.isPlausible else { throw .malformedValue }
        return name
    }

    /// Reads an account's name; nil if the field is absent.
    mutating func accountNameIfPresent() throws(WireFault) -> AccountName? {
        guard let name = try bytesIfPresent(.account).map(AccountName.init) else { return nil }
        guard name.isPlausible else { throw .malformedValue }
        return name
    }
}

extension Field {
    /// What a device calls itself.
    package static var deviceName: Field { Field(150, size: 1...DeviceName.longest) }
}
