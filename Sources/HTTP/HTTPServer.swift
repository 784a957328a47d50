// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// An HTTP/1.1 server: every request that arrives whole within its limits is given to one handler.
///
/// The handler begins on the thread of the connection and must not block it; once it waits for
/// something, it goes on in the concurrency pool and the connection sleeps.
package final class HTTPServer: Sendable {
    private let engine: Engine
    private let watch: Watch
    /// The port that it listens on.
    package let port: UInt16

    /// Serves from now on, until `stop(within:)`; throws where that cannot be.
    package init(
        _ configuration: ServerConfiguration,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws(ServerFault) {
        if let identity = configuration.identity { _ = try TLSCredentials(identity) }
        try allowConnections(configuration.connectionLimit)
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

    /// The connections that are open now.
    package var connectionCount: Int { engine.connections.count }

    /// Proves itself by another certificate to connections that come from now on; those that are
    /// open go on. Throws `.identity` where it cannot be used: then nothing has changed.
    package func renew(_ identity: ServerConfiguration.Identity) throws(ServerFault) {
        try engine.renew(identity)
    }

    /// Answers new requests 503, finishes what is under way within the limit, and closes the rest.
    ///
    /// Handlers that still run then are cancelled; their clients are answered 503.
    package func stop(within limit: Duration) async {
        await engine.stop(within: limit)
        watch.cancel()
    }
}
