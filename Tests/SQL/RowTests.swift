// SPDX-License-Identifier: Apache-2.0
import SQL
import Testing

@Suite("A row")
struct RowTests {
    private let row = Row([.integer(1), .text("one"), .bytes([1]), .null])

    @Test("is equal only to one with equal values")
    func equality() {
        #expect(Row([.integer(1)]) != Row([.text("1")]))
        #expect(Row([.bytes([1])]) != Row([.bytes([1]), .null]))
    }

    @Test("gives its columns")
    func columns() throws {
        #expect(try row.integer(0) == 1)
        #expect(try row.text(1) == "one")
        #expect(try row.bytes(2) == [1])
        #expect(try row.optionalInteger(0) == 1)
        #expect(try row.optionalText(1) == "one")
        #expect(try row.optionalBytes(2) == [1])
        #expect(try row.optionalInteger(3) == nil)
        #expect(try row.optionalText(3) == nil)
        #expect(try row.optionalBytes(3) == nil)
    }

    @Test("throws for columns of another type, null or absent", arguments: -1..<5)
    func mismatches(column: Int) {
        if column != 0 { #expect(throws: DatabaseFault.self) { try row.integer(column) } }
        if column != 1 { #expect(throws: DatabaseFault.self) { try row.text(column) } }
        if column != 2 { #expect(throws: DatabaseFault.self) { try row.bytes(column) } }
        if column != 0 && column != 3 {
            #expect(throws: DatabaseFault.self) { try row.optionalInteger(column) }
        }
        if column != 1 && column != 3 {
            #expect(throws: DatabaseFault.self) { try row.optionalText(column) }
        }
        if column != 2 && column != 3 {
            #expect(throws: DatabaseFault.self) { try row.optionalBytes(column) }
        }
    }
}
