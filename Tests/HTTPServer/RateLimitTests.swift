// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Posix
import Synchronization
import Testing

@Suite("The limit for an address")
struct RateLimitTests {
    private let time = SetTime()

    private func limit(_ perMinute: Int = 2) -> RateLimit {
        RateLimit(perMinute: perMinute, clock: time.clock)
    }

    private func isAdmitted(_ address: String, by limit: RateLimit) -> Bool {
        do throws(TooManyRequests) {
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

    @Test("is four times as high for a site, whose networks share it")
    func sites() throws {
        let limit = limit()
        let admitted = (0..<100).filter {
            isAdmitted("2001:db8:0:\(String($0, radix: 16))::1", by: limit)
        }
        #expect(admitted.count == 8)
        #expect(isAdmitted("2001:db8:1::1", by: limit))
        // What is refused for the site takes nothing from the network.
        #expect(limit.count == 8 + 1 + 2)
        // What is given back is given back to both.
        time.pass(60)
        let admissions = try (0..<8).map { try limit.admit("2001:db8:0:\($0)::1") }
        #expect(!isAdmitted("2001:db8:0:9::1", by: limit))
        for admission in admissions { limit.giveBack(admission) }
        #expect(isAdmitted("2001:db8:0:9::1", by: limit))
    }

    @Test("is another for the networks that have a rate of their own, also during a flood")
    func exceptions() throws {
        let limit = RateLimit(
            NetworkRates(
                standard: 2,
                exceptions: [
                    NetworkRates.Exception(try NetworkPrefix("192.0.2.0/24"), perMinute: 3),
                    NetworkRates.Exception(try NetworkPrefix("192.0.2.128/25"), perMinute: 5),
                    NetworkRates.Exception(try NetworkPrefix("2001:db8::/32"), perMinute: 1),
                ]), clock: time.clock)
        func count(_ address: String) -> Int {
            (0..<20).filter { _ in isAdmitted(address, by: limit) }.count
        }
        #expect(count("192.0.2.1") == 3)
        #expect(count("192.0.2.2") == 3)
        #expect(count("192.0.2.200") == 5)
        #expect(count("198.51.100.1") == 2)
        #expect((0..<20).filter { isAdmitted("2001:db8:0:\($0)::1", by: limit) }.count == 4)
        for number in 0..<40_000 {
            _ = isAdmitted("10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", by: limit)
        }
        #expect(limit.count <= 16_384 + 256 + 3)
        // There is no room: they share one bucket, which no one else uses.
        #expect(count("192.0.2.201") == 5)
        #expect(count("192.0.2.202") == 0)
        #expect(count("192.0.2.3") == 3)
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

    @Test("does not grow with a flood, and spares addresses that were there before")
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

    @Test("keeps no bucket for an address that was given back what was taken")
    func givenBack() throws {
        let limit = limit()
        for number in 0..<100 { limit.giveBack(try limit.admit("192.0.2.\(number)")) }
        #expect(limit.count == 0)
        let first = try limit.admit("192.0.2.1")
        try limit.admit("192.0.2.1")
        #expect(throws: TooManyRequests.self) { try limit.admit("192.0.2.1") }
        // What was given back twice fills no bucket over its rim.
        for _ in 0..<5 { limit.giveBack(first) }
        for _ in 0..<2 { try limit.admit("192.0.2.1") }
        #expect(throws: TooManyRequests.self) { try limit.admit("192.0.2.1") }
    }

    @Test("grows with no flood that lasts, minute after minute")
    func longFlood() {
        let limit = limit(120)
        for minute in 0..<5 {
            for number in 0..<20_000 {
                let network = String(minute % 2 * 20_000 + number, radix: 16)
                _ = isAdmitted("2001:db8:\(network)::", by: limit)
            }
            #expect(limit.count <= 16_384 + 256)
            time.pass(30)
        }
    }

    @Test("forgets no flooder's count, whichever other addresses appear")
    func flooder() {
        let limit = limit()
        for _ in 0..<2 { #expect(isAdmitted("192.0.2.1", by: limit)) }
        for round in 0..<3 {
            for number in 0..<20_000 {
                let network = String(round * 20_000 + number, radix: 16)
                _ = isAdmitted("2001:db8:\(network)::", by: limit)
            }
            time.pass(9)
            #expect(!isAdmitted("192.0.2.1", by: limit))
        }
        time.pass(3)
        #expect(isAdmitted("192.0.2.1", by: limit))
    }

    @Test("admits new addresses during a flood from one provider's networks")
    func others() {
        let limit = limit()
        for number in 0..<60_000 {
            _ = isAdmitted("2001:db8:\(String(number, radix: 16))::", by: limit)
        }
        #expect(!isAdmitted("2001:db8:ffff::", by: limit))
        // They share 256 buckets; the flood has drained one of them.
        let late = (0..<100).filter { isAdmitted("198.51.\($0).1", by: limit) }.count
        #expect(late > 80)
    }
}

/// A clock that a test sets.
private final class SetTime: Sendable {
    private let seconds = Atomic<Int64>(0)

    func pass(_ count: Int64) { seconds.add(count, ordering: .sequentiallyConsistent) }

    var clock: Clock {
        Clock(
            boot: { "test" },
            sinceBoot: { .seconds(self.seconds.load(ordering: .sequentiallyConsistent)) },
            wallSeconds: { self.seconds.load(ordering: .sequentiallyConsistent) })
    }
}
