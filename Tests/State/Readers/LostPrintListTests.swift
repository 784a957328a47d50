// SPDX-License-Identifier: Apache-2.0
import Domain
import SignedFormats
import TestSupport
import Testing

@testable import State

@Suite("prints that readers have lost, on disk")
struct LostPrintListTests {
    let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private var store: LostPrintStore { fixture.account.lostPrints }
    private let now = Instant(seconds: 1_800_000_000)

    @Test("are kept with the time of the first report, until the reader finds one again")
    func saves() throws {
        #expect(try store.load() == LostPrintList())
        let (first, second) = (PrintID.sample(repeating: 1), PrintID.sample(repeating: 2))
        var list = LostPrintList()
        let added = (list.add(first, now: now), list.add(second, now: now))
        #expect(added == (true, true))
        let isRepeated = list.add(first, now: Instant(seconds: 1_900_000_000))
        #expect(!isRepeated)
        try store.save(list)
        #expect(try store.load() == list)
        #expect(try store.load().since(first) == now)
        let removed = (list.remove(first), list.remove(first))
        #expect(removed == (true, false))
        try store.save(list)
        #expect(try store.load().since(first) == nil)
        list.keep(only: [first])
        try store.save(list)
        #expect(!Layout.entries(of: fixture.file("")).contains("lost-prints"))
    }

    @Test("are no more than an account can have, and a damaged record counts as none")
    func limits() throws {
        var list = LostPrintList()
        for number in 0..<LostPrintList.limit {
            let isAdded = list.add(.sample(repeating: UInt8(number)), now: now)
            #expect(isAdded)
        }
        let isAdded = list.add(.sample(repeating: 255), now: now)
        #expect(!isAdded)
        try store.save(list)
        #expect(try store.load() == list)
        for damage in ["", "signet-lost-prints: 2\n", "signet-lost-prints: 1\nprints: 65\n"] {
            try fixture.overwrite(fixture.file("lost-prints"), Array(damage.utf8))
            #expect(try store.load().isEmpty)
        }
    }
}
