// SPDX-License-Identifier: Apache-2.0
import HTTPClient
import HTTPServer
import Posix
import Synchronization
import TestSupport

/// Keys and certificates for a server on this machine, made by openssl.
struct TestIdentity {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        for name in ["server", "other"] { try scratch.makeCertificate(name) }
    }

    /// A chain and a key by their names, `server` or `other`.
    func pair(_ chain: String = "server", _ key: String = "server") throws
        -> ServerConfiguration.Identity
    {
        var bytes = try scratch.read("\(key).key")
        return try ServerConfiguration.Identity(
            chain: scratch.read("\(chain).pem"), key: SecretBytes(moving: &bytes))
    }
}

/// A configuration for any free port of this machine.
func local(_ identity: ServerConfiguration.Identity? = nil) -> ServerConfiguration {
    ServerConfiguration(place: .address("127.0.0.1", port: 0), identity: identity)
}

/// Tells what it was asked: method, path, query, length of the body.
@Sendable func echo(_ request: HTTPRequest) async -> HTTPResponse {
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
    let line = "\(request.method) \(request.path) [\(query)] \(request.body.count) \(request.peer)"
    return HTTPResponse(
        status: 200, headers: [("Content-Type", "text/plain")], body: Array(line.utf8))
}

/// A door that handlers wait at until the test opens it.
actor HandlerGate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var arrivals: [CheckedContinuation<Void, Never>] = []

    /// Waits until it is open.
    func pass() async {
        arrivals.forEach { $0.resume() }
        arrivals = []
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Waits until a handler stands there.
    func arrival() async {
        if !waiting.isEmpty { return }
        await withCheckedContinuation { arrivals.append($0) }
    }

    /// Lets everybody through.
    func open() {
        isOpen = true
        waiting.forEach { $0.resume() }
        waiting = []
    }
}

/// Lines from any thread.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A client that speaks to a server without TLS.
func plainClient(_ change: (inout ClientConfiguration) -> Void = { _ in }) -> HTTPClient {
    var configuration = ClientConfiguration()
    configuration.allowsPlain = true
    change(&configuration)
    return HTTPClient(configuration)
}
