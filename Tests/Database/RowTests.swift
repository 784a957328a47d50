import Database
import Testing

@Suite("A row")
struct RowTests {
    @Test("is equal to one of the same values only")
    func equality() {
        #expect(Row([.integer(1), .null]) == Row([.integer(1), .null]))
        #expect(Row([.integer(1)]) != Row([.text("1")]))
        #expect(Row([.bytes([1])]) != Row([.bytes([1]), .null]))
    }
}
