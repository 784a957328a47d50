// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol

extension FrameWriter {
    /// Appends a flag as 0 or 1, unless it is nil.
    mutating func put(_ field: Field, flagIfPresent flag: Bool?) throws(WireFault) {
        if let flag { try put(field, number: UInt8(flag ? 1 : 0)) }
    }
}

extension FrameReader {
    /// Reads a flag, which must be 0 or 1; nil if the field is absent.
    mutating func flagIfPresent(_ field: Field) throws(WireFault) -> Bool? {
        guard let flag = try numberIfPresent(field, as: UInt8.self) else { return nil }
        guard flag <= 1 else { throw .malformedValue }
        return flag == 1
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
