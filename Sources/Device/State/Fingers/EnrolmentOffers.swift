// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// The times at which accounts without fingers were last told that they can enrol one, oldest
/// first.
///
/// The list limits hints to one a day for each account; it decides nothing about access.
package struct EnrolmentOffers: Equatable, Sendable {
    /// The maximum number of entries.
    ///
    /// An account whose entry was dropped may be told again.
    static let limit = 64
    /// The minimum number of seconds between two offers to an account.
    package static let interval: UInt64 = 86_400

    private(set) var offers: [Offer] = []

    struct Offer: Equatable, Sendable {
        let uid: UInt32
        /// The time of the offer, in seconds since 1970.
        let said: UInt64

        /// Whether the offer still counts at a time, in seconds since 1970.
        ///
        /// An offer in the future does not count, since the clock must have been set back.
        func counts(at moment: UInt64) -> Bool {
            moment >= said && moment - said < EnrolmentOffers.interval
        }
    }

    /// Creates an empty list.
    package init() {}

    /// Whether an account may be told at this time, in seconds since 1970.
    package func isDue(_ uid: UInt32, at moment: UInt64) -> Bool {
        !offers.contains { $0.uid == uid && $0.counts(at: moment) }
    }

    /// Records that an account is told now, and drops entries older than `interval`.
    package mutating func note(_ uid: UInt32, at moment: UInt64) {
        offers.removeAll { $0.uid == uid || !$0.counts(at: moment) }
        offers.append(Offer(uid: uid, said: moment))
        offers = Array(offers.suffix(Self.limit))
    }
}

extension EnrolmentOffers: LineRecord {
    static let cap = 8_192

    func encoded() -> [UInt8] {
        var lines = LineWriter()
        lines.put("signet-offers", number: 1)
        lines.put("offers", number: UInt64(offers.count))
        for offer in offers {
            lines.put("uid", number: UInt64(offer.uid))
            lines.put("said", number: offer.said)
        }
        return lines.text
    }

    init(parsing lines: inout LineReader) throws(LineFault) {
        try lines.version("signet-offers")
        let count = try lines.number("offers")
        guard count <= Self.limit else { throw .tooLong }
        for _ in 0..<count {
            let uid = try lines.uid()
            offers.append(Offer(uid: uid, said: try lines.number("said")))
        }
    }
}

extension StateDirectory {
    /// Returns the recorded offers.
    ///
    /// A damaged record counts as empty, so that accounts are told once more.
    package func offers() throws(StoreFault) -> EnrolmentOffers {
        do throws(StoreFault) {
            return try secrets.record(Self.offersName) ?? EnrolmentOffers()
        } catch {
            guard error.isAboutContent else { throw error }
            return EnrolmentOffers()
        }
    }

    /// Stores the offers durably.
    package func keep(_ offers: EnrolmentOffers) throws(StoreFault) {
        try secrets.keep(offers, as: Self.offersName)
    }

    private static let offersName = "offers"
}
