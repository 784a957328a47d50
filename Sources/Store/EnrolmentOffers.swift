// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// When accounts without fingers were last told that they could enrol one, oldest first.
package struct EnrolmentOffers: Equatable, Sendable {
    /// How many are kept; who is left out may be told once more.
    static let limit = 64
    /// How many seconds lie between two.
    package static let interval: UInt64 = 86_400

    private(set) var offers: [Offer] = []

    struct Offer: Equatable, Sendable {
        let uid: UInt32
        /// Seconds since 1970.
        let said: UInt64

        /// Whether it counts; one of a clock that was set back since does not.
        func counts(at moment: UInt64) -> Bool {
            moment >= said && moment - said < EnrolmentOffers.interval
        }
    }

    /// Nothing was said.
    package init() {}

    /// Whether an account may be told now.
    package func isDue(_ uid: UInt32, at moment: UInt64) -> Bool {
        !offers.contains { $0.uid == uid && $0.counts(at: moment) }
    }

    /// Notes that an account is told; what is older than a day is forgotten.
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
    /// When accounts were told. A record that is damaged says nothing: then they are told once more.
    package func offers() throws(StoreFault) -> EnrolmentOffers {
        do throws(StoreFault) {
            return try secrets.record(Self.offersName) ?? EnrolmentOffers()
        } catch {
            guard error.isAboutContent else { throw error }
            return EnrolmentOffers()
        }
    }

    /// Writes it durably.
    package func keep(_ offers: EnrolmentOffers) throws(StoreFault) {
        try secrets.keep(offers, as: Self.offersName)
    }

    private static let offersName = "offers"
}
