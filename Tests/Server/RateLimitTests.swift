import HTTP
import Testing

@testable import Server

@Suite("The limit for an address")
struct RateLimitTests {
    private let time = TestTime()

    private func limit(_ perMinute: Int = 2) -> RateLimit {
        RateLimit(perMinute: perMinute, clock: time.clock)
    }

    private func isAdmitted(_ address: String, by limit: RateLimit) -> Bool {
        do throws(Problem) {
            try limit.admit(address)
            return true
        } catch { return false }
    }

    @Test("is one for a whole network of IPv6")
    func networks() {
        let limit = limit()
        #expect(isAdmitted("2001:db8::1", by: limit))
        #expect(isAdmitted("2001:db8::2", by: limit))
        #expect(!isAdmitted("2001:db8::3", by: limit))
        #expect(isAdmitted("2001:db8:0:1::1", by: limit))
        #expect(isAdmitted("192.0.2.1", by: limit))
    }

    @Test("holds over the minutes in which it is used, and is forgotten after")
    func minutes() {
        let limit = limit()
        for _ in 0..<2 { #expect(isAdmitted("192.0.2.1", by: limit)) }
        // A token comes back each half minute, whatever is forgotten meanwhile.
        for _ in 0..<10 {
            #expect(!isAdmitted("192.0.2.1", by: limit))
            time.pass(30)
            #expect(isAdmitted("192.0.2.1", by: limit))
        }
        #expect(limit.count > 0)
        time.pass(120)
        #expect(isAdmitted("192.0.2.2", by: limit))
        #expect(limit.count == 1)
    }

    @Test("grows with no flood, and leaves those alone who were there before")
    func flood() {
        let limit = limit()
        #expect(isAdmitted("192.0.2.1", by: limit))
        for number in 0..<40_000 {
            _ = isAdmitted("2001:db8:\(String(number, radix: 16))::", by: limit)
        }
        #expect(limit.count <= 16_384 + 256)
        #expect(isAdmitted("192.0.2.1", by: limit))
        #expect(!isAdmitted("192.0.2.1", by: limit))
        // Who comes now shares with the flood.
        let late = (0..<1_000).filter { isAdmitted("198.51.100.\($0 % 256)", by: limit) }.count
        #expect(late < 100)
        time.pass(60)
        #expect(isAdmitted("198.51.100.1", by: limit))
    }

    @Test("has no place for who is only looked at")
    func looks() throws {
        let limit = limit()
        for number in 0..<100 { try limit.require("192.0.2.\(number)") }
        #expect(limit.count == 0)
        for _ in 0..<2 { limit.charge("192.0.2.1") }
        #expect(throws: Problem.self) { try limit.require("192.0.2.1") }
    }
}
