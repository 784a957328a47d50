// SPDX-License-Identifier: Apache-2.0
import Posix

/// The authorities that an `HTTPClient` trusts, the way it connects, and its limits.
package struct ClientConfiguration: Equatable, Sendable {
    /// The certificate authorities that may vouch for a server.
    package enum Authorities: Equatable, Sendable {
        /// The machine's trusted authorities.
        case system
        /// Only these, in PEM.
        case certificates([UInt8])
        /// Only those in this PEM file.
        case file(String)
    }

    /// The proxy on the way to the server.
    package enum Proxy: Equatable, Sendable {
        /// No proxy; environment variables have no effect.
        case none
        /// This proxy, given as a URL.
        case url(String)
        /// The proxy from the environment (`https_proxy`, `no_proxy`, …).
        case environment
    }

    /// The certificate authorities that may vouch for a server.
    package var authorities = Authorities.system
    /// If set, the server must have one of these keys.
    ///
    /// Each is `sha256//` and base64; they are separated by `;`. The certificate is verified as
    /// well.
    package var pinnedKey: String?
    /// The proxy on the way to the server.
    package var proxy = Proxy.none
    /// If set, the only addresses that are connected to; the host's name is not resolved.
    ///
    /// Certificate and headers still name the host of the URL. Only without a proxy.
    package var addresses: [InternetAddress]?
    /// Whether `http://` is permitted.
    package var allowsPlain = false
    /// The time limit for connecting, including TLS.
    package var connectLimit = Duration.seconds(10)
    /// The time limit for a whole request, including connecting.
    package var totalLimit = Duration.seconds(30)
    /// The maximum size of a response's headers, in bytes.
    package var headerLimit = 32 * 1024
    /// The maximum size of a response's body, in bytes.
    package var bodyLimit = 1 << 20

    /// Creates a configuration with the default limits.
    package init() {}
}
