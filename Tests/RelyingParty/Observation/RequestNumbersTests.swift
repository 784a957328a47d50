// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RelyingParty

@Suite("The names of requests")
struct RequestNumbersTests {
    @Test("are all different, and reveal neither their number nor their order")
    func opaque() {
        let numbers = RequestNumbers()
        let names = (0..<20_000).map { _ in numbers.next() }
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.wholeMatch(of: #/[0-9a-hjkmnp-tv-z]{13}/#) != nil, "\(name)")
        }
        // As many are above the one before as below: of 20,000, some 10,000 +- 58.
        let rising = zip(names, names.dropFirst()).filter { $0 < $1 }.count
        #expect((9_500...10_500).contains(rising))
        // Nothing that all have in common is from the run: each place has all its digits.
        for place in 0..<12 {
            let digits = Set(names.map { Array($0.utf8)[place] })
            #expect(digits.count == 32, "\(place)")
        }
    }
}
