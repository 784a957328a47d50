// SPDX-License-Identifier: Apache-2.0
import Posix

/// Where and within which limits an `HTTPServer` serves.
package struct ServerConfiguration: Sendable {
    /// Where connections come from.
    package enum Place: Sendable {
        /// A numeric IPv4 or IPv6 address and a port; port 0 takes any that is free.
        case address(String, port: UInt16)
        /// A socket that listens already (systemd hands one over); the server closes it.
        case listening(descriptor: Int32)
    }

    /// What proves the server to its clients.
    package struct Identity: Sendable {
        /// The certificate and those between it and the root, PEM, leaf first.
        package let chain: [UInt8]
        /// The leaf's private key, PEM, without a passphrase.
        package let key: SecretBytes

        /// From PEM bytes.
        package init(chain: [UInt8], key: SecretBytes) {
            self.chain = chain
            self.key = key
        }
    }

    /// Where connections come from.
    package var place: Place
    /// TLS 1.2 or 1.3 with this identity; nil serves without TLS.
    package var identity: Identity?
    /// Connections at the same time; more wait in the kernel's queue.
    package var connectionLimit = 12_000
    /// Connections of one `PeerNetwork` at the same time, more are closed; 0 does not count.
    package var addressLimit = 0
    /// A connection on which nothing moves for so long is closed; whole seconds count.
    package var idleTimeout = Duration.seconds(60)
    /// From its first line, a request has this time to arrive whole, and its answer as much to leave.
    package var requestLimit = Duration.seconds(30)
    /// The memory of one connection in bytes: request line and headers must fit in.
    /// A connection that has been used once keeps all of it, idle or not.
    package var headerLimit = 8 * 1024
    /// Threads that serve connections; one for each processor by itself.
    package var threads: Int
    /// The most bytes that a body may have, from method and path as sent, asked before it is read.
    package var bodyLimit: @Sendable (_ method: String, _ path: String) -> Int
    /// What the server answers by itself, in place of the handler: 400 to what can be read in more
    /// than one way, 413, 501 to a coding that it does not know, 503 when it stops. Of the request
    /// there is what is known by then, and no body; method and path may be empty.
    package var refusal: @Sendable (_ status: Int, _ request: HTTPRequest) -> HTTPResponse = {
        status, _ in HTTPResponse(status: status)
    }
    /// Takes what the library reports; the lines hold nothing that a client sent.
    package var log: @Sendable (String) -> Void

    /// With the usual limits; bodies of at most 64 KiB.
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
