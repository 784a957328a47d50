// SPDX-License-Identifier: Apache-2.0
import Configuration
import Posix

/// The addresses that callbacks may be sent to: all public ones, and those that the administrator
/// lists (`callback.networks`).
///
/// A back end's administrator chooses the URL, and the owner of the name's zone its addresses, so
/// neither may make the server call a machine that only the server can reach.
struct CallbackNetworks: Sendable {
    /// The networks that the administrator lists.
    let listed: [AddressBlock]

    /// Creates rules for networks that are listed.
    init(listed: [AddressBlock] = []) { self.listed = listed }

    /// Why a callback may not be sent to an address; nil if it may.
    ///
    /// `isOwn` says whether this machine has the address. Plain HTTP, and ports that are not for
    /// HTTPS, are for listed networks alone.
    func objection(to address: InternetAddress, of url: CallbackURL, isOwn: Bool) -> String? {
        guard !listed.contains(where: { $0.contains(address) }) else { return nil }
        if isOwn { return "\(address.text) is this machine's own address" }
        guard Self.isPublic(address) else { return "\(address.text) is not a public address" }
        return portObjection(of: url)
    }

    /// Why no callback can be sent to a URL, wherever its host's name leads; nil if one may be.
    ///
    /// `isOwn` says whether this machine has an address.
    func objection(
        to url: CallbackURL, isOwn: (InternetAddress) -> Bool = { $0.isOfThisMachine }
    ) -> String? {
        if let address = InternetAddress(url.host) {
            return objection(to: address, of: url, isOwn: isOwn(address))
        }
        // RFC 6761, section 6.3: these names lead to this machine alone.
        if url.host == "localhost" || url.host.hasSuffix(".localhost") {
            let loopback = ["127.0.0.1", "::1"].compactMap { InternetAddress($0) }
            let objections = loopback.map { objection(to: $0, of: url, isOwn: true) }
            return objections.contains(nil) ? nil : "\(url.host) is this machine itself"
        }
        return listed.isEmpty ? portObjection(of: url) : nil
    }

    private func portObjection(of url: CallbackURL) -> String? {
        if url.isPlain { return "plain HTTP is only for networks in callback.networks" }
        guard url.port == 443 || url.port >= 1024 else {
            return "port \(url.port) is only for networks in callback.networks"
        }
        return nil
    }

    /// Whether an address is one of the public Internet.
    ///
    /// Of IPv6, only 2000::/3 is: so loopback, link-local and unique local addresses, multicast, and
    /// all addresses that contain one of IPv4 (mapped, compatible, NAT64) are not.
    static func isPublic(_ address: InternetAddress) -> Bool {
        if address.isIPv6, !global.contains(where: { $0.contains(address) }) { return false }
        return !special.contains { $0.contains(address) }
    }

    private static let global = blocks(["2000::/3"])
    /// From the registries of special addresses (RFC 6890), without those reachable from anywhere.
    private static let special = blocks([
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        // Teredo, ORCHID, benchmarks; documentation; 6to4, which contains an IPv4 address.
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ])

    private static func blocks(_ texts: [String]) -> [AddressBlock] {
        texts.compactMap { try? AddressBlock($0) }
    }
}

extension CallbackNetworks {
    /// Parses `callback.networks`: `10.20.0.0/16 fd00:1::/48`, or `none`.
    ///
    /// - Throws: `.callbackNetwork`, naming the entry, for the first mistake.
    init(_ settings: Configuration) throws(StartFault) {
        let text = settings.word(ServerSettings.callbackNetworks)
        var listed: [AddressBlock] = []
        for part in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) where text != "none" {
            do throws(NetworkPrefixFault) {
                listed.append(try AddressBlock(String(part)))
            } catch {
                let problem =
                    switch error {
                    case .malformed: "write an address with /LENGTH after it"
                    case .length: "the length must be at most 32 for IPv4, or 128 for IPv6"
                    case .hostBits: "the address has bits after the prefix: write zeros there"
                    }
                throw .callbackNetwork(entry: String(part), problem)
            }
        }
        self.init(listed: listed)
    }
}
