// SPDX-License-Identifier: Apache-2.0
import Posix

/// Where and within which limits an `HTTPServer` serves.
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
    /// The maximum number of connections; more of them wait in the kernel's queue.
    package var connectionLimit = 12_000
    /// The maximum number of connections per `PeerNetwork`; more are closed. 0 disables the limit.
    package var addressLimit = 0
    /// After this time without traffic a connection is closed; in whole seconds.
    package var idleTimeout = Duration.seconds(60)
    /// The time for a request to arrive, from its first line, and again for sending its response.
    package var requestLimit = Duration.seconds(30)
    /// The buffer of a connection in bytes, which limits request line and headers.
    ///
    /// A connection that has been used keeps the buffer, even while it is idle.
    package var headerLimit = 8 * 1024
    /// The number of threads that serve connections; by default one per processor.
    package var threads: Int
    /// The maximum size of a body in bytes, by method and path as sent; called before reading it.
    package var bodyLimit: @Sendable (_ method: String, _ path: String) -> Int
    /// Makes the response to a request that the server refuses itself: 400 for an invalid or
    /// ambiguous request, 413, 501 for an unknown transfer coding, or 503 while it is stopping.
    ///
    /// The request has what is known so far and no body; method and path may be empty.
    package var refusal: @Sendable (_ status: Int, _ request: HTTPRequest) -> HTTPResponse = {
        status, _ in HTTPResponse(status: status)
    }
    /// Receives the library's messages, which contain nothing sent by a client.
    package var log: @Sendable (String) -> Void

    /// Creates a configuration with the default limits; bodies may have 64 KiB.
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
