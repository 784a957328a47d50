// SPDX-License-Identifier: Apache-2.0
import Domain
import SQL
import TestSupport
import Testing

@testable import RelyingParty

@Suite("An id in a column")
struct RecordIDTests {
    @Test("is read as it was written, or as nothing if it may be null")
    func read() throws {
        let id = DeviceID.sample(0..<16)
        let row = Row([.id(id), .id(ifPresent: Optional(id)), .id(ifPresent: DeviceID?.none)])
        #expect(try row.id(0) == id)
        #expect(try row.optionalID(1) == id)
        #expect(try row.optionalID(2) == DeviceID?.none)
    }

    @Test("of another length, type or place is a fault")
    func broken() {
        for value in [
            Value.bytes([]), .bytes([UInt8](repeating: 1, count: 15)),
            .bytes([UInt8](repeating: 1, count: 17)), .text("0123456789abcdef"), .integer(1),
        ] {
            let row = Row([value])
            #expect(throws: DatabaseFault.self) { let _: DeviceID = try row.id(0) }
            #expect(throws: DatabaseFault.self) { let _: DeviceID? = try row.optionalID(0) }
        }
        #expect(throws: DatabaseFault.self) { let _: DeviceID = try Row([.null]).id(0) }
        #expect(throws: DatabaseFault.self) { let _: Challenge = try Row([.null]).id(1) }
    }
}
