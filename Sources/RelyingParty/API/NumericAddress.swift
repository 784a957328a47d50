// SPDX-License-Identifier: Apache-2.0
import Posix

/// A numeric IPv4 or IPv6 address, without port or interface.
struct NumericAddress: Decodable, Equatable, Sendable {
    let text: String

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        text = try container.decode(String.self)
        guard PeerNetwork.isAddress(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "not a numeric address")
        }
    }
}
