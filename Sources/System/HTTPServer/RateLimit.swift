// SPDX-License-Identifier: Apache-2.0
import Posix

/// Limits the calls per minute of each network: an IPv4 address, or 64 and 48 bits of IPv6.
///
/// A call from IPv6 takes from the bucket of its first 64 bits and from that of its first 48, which
/// has four times the rate: a site has 65,536 networks of 64 bits, and would otherwise have as many
/// buckets. A network that `NetworkRates` names with more than 48 bits takes only from its own.
///
/// Memory is bounded as `TokenBuckets` says. When there is no room, a new network shares a bucket
/// with the networks around it (`surroundings`), one of 256. A flood from one of these surroundings
/// empties one shared bucket; a flood from all over the world empties all of them, and new networks
/// then wait until it ends, except those with a rate of their own: the addresses of each exception
/// share a bucket among themselves alone.
package final class RateLimit: Sendable {
    /// A token taken from each bucket of an address, which can be returned.
    package typealias Admission = TokenBuckets<Source>.Admission

    /// A network with a bucket.
    package struct Source: Hashable, Sendable {
        fileprivate let network: PeerNetwork
        /// Whether these are the 48 bits of a site, and not a network of 64.
        fileprivate let isSite: Bool
    }

    /// The number of buckets shared by the networks that arrive when there is no room.
    private static let shared = 256
    private let rates: NetworkRates
    private let buckets: TokenBuckets<Source>

    /// Permits each network a burst of as many calls as its rate, and on average its rate a minute.
    package init(_ rates: NetworkRates, clock: Clock) {
        self.rates = rates
        buckets = TokenBuckets(clock: clock)
    }

    /// Permits the same rate to all networks.
    package convenience init(perMinute: Int, clock: Clock) {
        self.init(NetworkRates(standard: perMinute), clock: clock)
    }

    /// Takes a token from each bucket of an address.
    ///
    /// - Throws: the time to wait if one of them is empty; nothing is then taken.
    @discardableResult
    package func admit(_ address: String) throws(TooManyRequests) -> Admission {
        let network = PeerNetwork(address)
        let (perMinute, exception) = rates.rate(of: network)
        // The hash seed is random per process, so a client cannot choose whose bucket to share.
        let crowd =
            exception.map { Self.shared + $0.0 }
            ?? Int(network.surroundings.hashValue.magnitude % UInt(Self.shared))
        let own = TokenBuckets.Request(
            Source(network: network, isSite: false), perMinute: perMinute, crowd: crowd)
        guard let site = network.site,
            exception.map({ $0.1.length <= NetworkRates.siteLength }) ?? true
        else { return try buckets.take([own]) }
        // The surroundings of a site contain it, so without room their bucket limits it already.
        return try buckets.take([
            own,
            TokenBuckets.Request(
                Source(network: site, isSite: true),
                perMinute: perMinute * NetworkRates.siteFactor, crowd: nil),
        ])
    }

    /// Returns the tokens, for a call that is not to be counted because its proof was valid.
    package func giveBack(_ admission: Admission) { buckets.giveBack(admission) }

    /// The number of buckets in memory.
    package var count: Int { buckets.count }
}
