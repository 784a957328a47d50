// SPDX-License-Identifier: Apache-2.0
import Posix

/// Where an `HTTPServer` listens, and the limits within which it serves.
package struct ServerConfiguration: Sendable {
    /// The source of connections.
    package enum Place: Sendable {
        /// A numeric IPv4 or IPv6 address with a port; 0 selects any free port.
        case address(String, port: UInt16)
        /// A listening socket, for example from systemd; the server takes ownership.
        case listening(descriptor: Int32)
    }

    /// The certificate and key by which the server authenticates itself.
    package struct Identity: Sendable {
        /// The leaf certificate and its intermediates, in PEM.
        package let chain: [UInt8]
        /// The leaf's private key in PEM, without a passphrase.
        package let key: SecretBytes

        /// Creates an identity from PEM bytes, which are not checked here.
        package init(chain: [UInt8], key: SecretBytes) {
            self.chain = chain
            self.key = key
        }
    }

    /// The source of connections.
    package var place: Place
    /// The identity for TLS 1.2 and 1.3; nil serves plain HTTP.
    package var identity: Identity?
    /// The maximum number of connections; for one more, those are closed that have waited for their
    /// clients the longest.
    package var connectionLimit = 12_000
    /// The maximum number of connections per `PeerNetwork`, with four times as many per IPv6 site.
    ///
    /// For one more, the one of them is closed that has waited for its client the longest. It is
    /// refused only if requests are being handled on all of them. 0 disables the limit.
    package var addressLimit = 0
    /// The time without traffic after which a connection is closed, in whole seconds, at least one.
    package var idleTimeout = Duration.seconds(60)
    /// The time for a request to arrive, from its first line, and again for its response to be
    /// sent.
    package var requestLimit = Duration.seconds(30)
    /// The buffer of a connection in bytes, which limits request line and headers.
    ///
    /// A connection that has been used keeps the buffer, even while it is idle.
    package var headerLimit = 8 * 1024
    /// The number of threads that serve connections; by default one per processor.
    package var threads: Int
    /// Returns the most bytes that a body may have, by method and path as sent; called before
    /// reading it.
    package var bodyLimit: @Sendable (_ method: String, _ path: String) -> Int
    /// Makes the response to a request that the server itself answers with an error.
    ///
    /// The status is 400 for an invalid or ambiguous request, 411 for a body with a transfer coding,
    /// 413 for a body beyond its limit, 431 for more cookies than fit `headerLimit`, or 503 while the
    /// server is stopping. The request has what is known so far and no body; method and path may be
    /// empty.
    package var refusal: @Sendable (_ status: Int, _ request: HTTPRequest) -> HTTPResponse = {
        status, _ in HTTPResponse(status: status)
    }
    /// Receives the library's messages, which contain nothing sent by a client.
    package var log: @Sendable (String) -> Void

    /// Creates a configuration with the default limits; a body may have 64 KiB.
    package init(
        place: Place, identity: Identity? = nil,
        bodyLimit: @escaping @Sendable (_ method: String, _ path: String) -> Int = { _, _ in
            64 * 1024
        },
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.place = place
        self.identity = identity
        self.bodyLimit = bodyLimit
        self.log = log
        threads = processorCount()
    }
}

extension ServerConfiguration {
    /// The limit that the library itself gets, which does not accept more.
    ///
    /// It is above `connectionLimit`, because the library divides it among its threads, and because
    /// a connection that is closed to make room for another one still exists for a moment.
    var engineLimit: Int { connectionLimit + max(16, connectionLimit / 2) }
}
