// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

// Fields that the frames of several families share. Each pair of functions, one that writes and one
// that reads, agrees on when a field is left out, so that every content has exactly one encoding.
extension FrameWriter {
    /// Appends a flag as 0 or 1, unless it is nil.
    mutating func put(_ field: Field, flagIfPresent flag: Bool?) throws(WireFault) {
        if let flag { try put(field, number: UInt8(flag ? 1 : 0)) }
    }

    /// Appends a flag if it is set.
    mutating func put(_ field: Field, ifSet flag: Bool) throws(WireFault) {
        if flag { try put(field, number: UInt8(1)) }
    }

    /// Appends what a device calls itself, unless it has no name.
    mutating func put(deviceName name: DeviceName?) throws(WireFault) {
        try put(.deviceName, ifPresent: name?.bytes)
    }

    /// Appends the factor that confirms a request, unless it is a touch.
    mutating func put(factor: ConfirmingFactor) throws(WireFault) {
        if factor == .password { try put(.factor, number: factor.rawValue) }
    }
}

extension FrameReader {
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

    /// Reads what a device calls itself; nil if the field is absent.
    mutating func deviceName() throws(WireFault) -> DeviceName? {
        guard let bytes = try bytesIfPresent(.deviceName) else { return nil }
        guard let name = DeviceName(bytes) else { throw .malformedValue }
        return name
    }

    /// Reads the factor that confirms a request: a touch if the field is absent.
    mutating func factor() throws(WireFault) -> ConfirmingFactor {
        guard let number = try numberIfPresent(.factor, as: UInt8.self) else { return .finger }
        guard number == ConfirmingFactor.password.rawValue else { throw .malformedValue }
        return .password
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
