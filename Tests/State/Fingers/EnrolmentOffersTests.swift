// SPDX-License-Identifier: Apache-2.0
import SignedFormats
import TestSupport
import Testing

@testable import State

@Suite("when accounts were informed that they could enrol")
struct EnrolmentOffersTests {
    private let fixture: StateFixture
    private static let day = EnrolmentOffers.interval

    init() throws { fixture = try StateFixture() }

    private var file: String { fixture.scratch.at("private/offers") }

    @Test("each is informed once a day, and again if the clock was set back")
    func daily() {
        var offers = EnrolmentOffers()
        let start: UInt64 = 1_800_000_000
        #expect(offers.isDue(1_000, at: start))
        offers.note(1_000, at: start)
        #expect(!offers.isDue(1_000, at: start) && offers.isDue(1_001, at: start))
        #expect(!offers.isDue(1_000, at: start + Self.day - 1))
        #expect(offers.isDue(1_000, at: start + Self.day))
        #expect(offers.isDue(1_000, at: start - 1))
        offers.note(1_001, at: start + 5)
        offers.note(1_000, at: start + Self.day)
        #expect(offers.offers.map(\.uid) == [1_001, 1_000])
        offers.note(1_002, at: start + Self.day + 10)
        #expect(offers.offers.map(\.uid) == [1_000, 1_002])
    }

    @Test("is kept, for the newest accounts, and read in one form only")
    func form() throws {
        #expect(try fixture.state.offers() == EnrolmentOffers())
        var offers = EnrolmentOffers()
        for uid in 0..<UInt32(100) { offers.note(uid, at: .max) }
        #expect(offers.offers.count == EnrolmentOffers.limit && offers.offers.last?.uid == 99)
        let contents = offers.encoded()
        #expect(contents.count < EnrolmentOffers.cap)
        try fixture.state.keep(offers)
        #expect(try StateDirectory.open(fixture.scratch.path).offers() == offers)
        for length in 0..<contents.count {
            #expect(throws: LineFault.self) {
                try EnrolmentOffers(contents: Array(contents.prefix(length)))
            }
        }
        #expect(throws: LineFault.self) { try EnrolmentOffers(contents: contents + [10]) }
    }

    @Test(
        "a record that is damaged says nothing",
        arguments: [
            "", "signet-offers: 2\noffers: 0\n", "signet-offers: 1\noffers: 65\n",
            "signet-offers: 1\noffers: 1\nuid: 4294967296\nsaid: 1\n",
        ])
    func damaged(_ text: String) throws {
        try fixture.state.keep(EnrolmentOffers())
        try fixture.overwrite(file, Array(text.utf8))
        #expect(try fixture.state.offers() == EnrolmentOffers())
    }
}
