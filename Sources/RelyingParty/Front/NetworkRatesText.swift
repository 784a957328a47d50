// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTPServer
import Posix

// Reads the rates of networks from the settings. An entry that is wrong, or a network that is named
// twice, keeps the server from starting: a rate that was misread could lock clients out.
extension NetworkRates {
    /// The rates that a configuration sets: `listen.rate`, and `rate.networks`.
    ///
    /// - Throws: `.networkRate`, naming the entry, for the first mistake in `rate.networks`.
    init(_ settings: Configuration) throws(StartFault) {
        self.init(
            standard: settings.count(ServerSettings.rate),
            exceptions: try Self.exceptions(settings.word(ServerSettings.networks)))
    }

    /// Parses `192.0.2.0/24=600 2001:db8::/32=1200`, or `none`.
    static func exceptions(_ text: String) throws(StartFault) -> [Exception] {
        guard text != "none" else { return [] }
        var exceptions: [Exception] = []
        for part in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            let entry = String(part)
            let exception = try exception(entry)
            guard !exceptions.contains(where: { $0.prefix == exception.prefix }) else {
                throw .networkRate(entry: entry, "this network has a rate already")
            }
            exceptions.append(exception)
        }
        return exceptions
    }

    private static func exception(_ entry: String) throws(StartFault) -> Exception {
        let sides = entry.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2 else {
            throw .networkRate(entry: entry, "write NETWORK=RATE, for example 192.0.2.0/24=600")
        }
        guard case .count(let perMinute)? = ServerSettings.rate.accepts.value(of: String(sides[1]))
        else {
            throw .networkRate(
                entry: entry, "the rate must be \(ServerSettings.rate.accepts.expectation)")
        }
        do throws(NetworkPrefixFault) {
            return Exception(try NetworkPrefix(String(sides[0])), perMinute: perMinute)
        } catch {
            let problem =
                switch error {
                case .malformed: "the network must be an address with /LENGTH after it"
                case .length: "the length must be at most 32 for IPv4, or 64 for IPv6"
                case .hostBits: "the address has bits after the prefix: write zeros there"
                }
            throw .networkRate(entry: entry, problem)
        }
    }
}
