// SPDX-License-Identifier: Apache-2.0
/// Whom an `HTTPClient` trusts, which way it goes, and how long it waits.
package struct ClientConfiguration: Equatable, Sendable {
    /// Who may vouch for a server.
    package enum Authorities: Equatable, Sendable {
        /// The machine's own list.
        case system
        /// These alone, PEM.
        case certificates([UInt8])
        /// Those in this PEM file alone.
        case file(String)
    }

    /// The way to the server.
    package enum Proxy: Equatable, Sendable {
        /// None, whatever the environment says.
        case none
        /// This one, a URL.
        case url(String)
        /// What the environment says (`https_proxy`, `no_proxy`, …).
        case environment
    }

    /// Who may vouch for a server.
    package var authorities = Authorities.system
    /// If set, the server's key must also be this one: `sha256//` and base64, several with `;`.
    package var pinnedKey: String?
    /// The way to the server.
    package var proxy = Proxy.none
    /// Whether `http://` is allowed.
    package var allowsPlain = false
    /// The time until the connection stands, TLS included.
    package var connectLimit = Duration.seconds(10)
    /// The time for all of it.
    package var totalLimit = Duration.seconds(30)
    /// The most bytes of an answer's headers.
    package var headerLimit = 32 * 1024
    /// The most bytes of an answer's body.
    package var bodyLimit = 1 << 20

    /// With the usual limits.
    package init() {}
}
