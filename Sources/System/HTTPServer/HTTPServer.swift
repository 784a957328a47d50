// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd that passes complete requests within limits to a handler.
///
/// Ambiguous or oversized requests never reach the handler (`RequestHead`, `ServerConfiguration`).
/// The handler starts on the thread of the connection and must not block it. When it first awaits
/// something, it continues in the concurrency pool, and the connection is suspended.
package final class HTTPServer: Sendable {
    private let engine: Engine
    private let watch: Watch
    /// The port that the server listens on; 0 for a socket that has none.
    package let port: UInt16

    /// Starts serving; the server runs until `stop(within:)` or until it is deallocated.
    ///
    /// Raises RLIMIT_NOFILE if the connection limit requires it.
    ///
    /// - Throws: the reason why the server cannot serve.
    package init(
        _ configuration: ServerConfiguration,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(ServerFault) {
        if let identity = configuration.identity { _ = try TLSCredentials(identity) }
        try allowConnections(configuration.connectionLimit + configuration.connectionLimit / 16)
        let socket = try ListeningSocket(configuration.place)
        let engine = Engine(configuration, handler: handler)
        port = socket.port
        self.engine = engine
        try engine.start(on: socket.duplicate())
        watch = Watch(engine.connections)
    }

    deinit {
        watch.cancel()
        engine.close()
    }

    /// The number of open connections, and of those that had to make room.
    package var connectionFigures: ConnectionFigures { engine.connections.figures }

    /// Presents another certificate to new connections; open ones continue with theirs.
    ///
    /// - Throws: `.identity` if it cannot be used, and `.library` if the server has no TLS; the old
    ///   certificate then remains in use.
    package func renew(_ identity: ServerConfiguration.Identity) throws(ServerFault) {
        try engine.renew(identity)
    }

    /// Stops the server: new requests are answered with 503, running ones may finish within
    /// `limit`.
    ///
    /// Handlers that still run after that are cancelled, and their clients get 503.
    package func stop(within limit: Duration) async {
        await engine.stop(within: limit)
        watch.cancel()
    }
}
