// SPDX-License-Identifier: Apache-2.0
import Posix

/// How many calls a minute a network may make: a standard, and other rates for named networks.
///
/// The longest prefix that contains an address sets the rate of the address's own bucket: those of
/// one prefix do not share a bucket.
package struct NetworkRates: Sendable {
    /// A network with a rate of its own.
    package struct Exception: Equatable, Sendable {
        /// The network.
        package let prefix: NetworkPrefix
        /// The calls per minute of each address in it (for IPv6, of each 64-bit network).
        package let perMinute: Int

        /// Creates an exception.
        package init(_ prefix: NetworkPrefix, perMinute: Int) {
            self.prefix = prefix
            self.perMinute = perMinute
        }
    }

    /// How many times as many calls as one IPv6 network of 64 bits the 48 bits around it may make.
    static let siteFactor = 4
    /// The longest prefix whose rate also limits the 48 bits around an address.
    static let siteLength = 48
    /// The rate of all addresses that no exception contains.
    package let standard: Int
    /// The longest prefix first.
    private let exceptions: [Exception]

    /// Creates rates; no prefix may occur twice.
    package init(standard: Int, exceptions: [Exception] = []) {
        self.standard = standard
        self.exceptions = exceptions.sorted { $0.prefix.length > $1.prefix.length }
    }

    /// The rate of a network, and the exception that sets it with its number, if one does.
    func rate(of network: PeerNetwork) -> (perMinute: Int, exception: (Int, NetworkPrefix)?) {
        guard let place = exceptions.firstIndex(where: { $0.prefix.contains(network) }) else {
            return (standard, nil)
        }
        return (exceptions[place].perMinute, (place, exceptions[place].prefix))
    }
}
