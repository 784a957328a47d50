// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Glibc
import Posix
import Synchronization

/// A daemon of libmicrohttpd (MHD_Daemon) with the requests that it serves.
///
/// It can be started once, and is stopped by `stop` or `close`, after which no handler starts and
/// no request is answered. The daemon holds a retained reference to this object from `start` until
/// `close`.
final class Engine: Sendable {
    /// The state that changes between start and stop.
    private struct State {
        /// The `MHD_Daemon` pointer; nil before the start and after the stop.
        var daemon: UInt?
        /// The library's messages during the start; nil afterwards.
        ///
        /// Only these are logged verbatim, because no client has connected yet.
        var startLines: [String]? = []
        var running: [ObjectIdentifier: Exchange] = [:]
        var isClosed = false
        var drained: CheckedContinuation<Void, Never>?
    }

    let configuration: ServerConfiguration
    let handler: @Sendable (HTTPRequest) async -> HTTPResponse
    let connections: Connections
    let arriving = ArrivingHeads()
    let idleNanoseconds: Int64
    let requestNanoseconds: Int64
    private let state = Mutex(State())
    /// The certificates set by `renew`, newest last.
    ///
    /// A session uses its certificate until it ends, and the library does not report when that is,
    /// so all of them are retained as long as the engine exists.
    private let renewed = Mutex<[TLSCredentials]>([])
    private let active = Atomic<Int>(0)
    private let stopping = Atomic<Bool>(false)

    init(
        _ configuration: ServerConfiguration,
        handler: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        self.configuration = configuration
        self.handler = handler
        connections = Connections(
            limit: configuration.connectionLimit, networkLimit: configuration.addressLimit)
        requestNanoseconds = configuration.requestLimit.nanoseconds
        idleNanoseconds = configuration.idleTimeout.nanoseconds + requestNanoseconds
    }

    /// Whether the server is stopping: new requests are refused, and connections close after an
    /// answer.
    var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }

    /// Whether the engine is closed, so that no more handlers are started.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Starts serving on a listening socket, of which the library takes ownership.
    ///
    /// - Throws: `.identity` or `.library`, with the library's messages.
    func start(on socket: consuming Descriptor) throws(ServerFault) {
        // Released in `close`, or below if the start fails.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let number = socket.release()
        let started = unsafe withIdentity { identity in
            var options = unsafe engineOptions(configuration, socket: number, context: context)
            unsafe options += identity
            unsafe options.append(item(.END))
            return unsafe startDaemon(&options, configuration: configuration, context: context)
        }
        let lines = state.withLock { state in
            unsafe state.daemon = started.map { UInt(bitPattern: $0) }
            defer { state.startLines = nil }
            return state.startLines ?? []
        }
        guard unsafe started == nil else { return }
        _ = Glibc.close(number)
        unsafe Unmanaged<Engine>.fromOpaque(context).release()
        let reason = lines.joined(separator: "; ")
        let isIdentity = lines.contains { $0.contains("certificate") || $0.contains("key") }
        throw isIdentity ? .identity(reason) : .library(reason)
    }

    /// Presents another certificate to new connections; open ones keep theirs.
    ///
    /// - Throws: `.library` if the server has no TLS, and the faults of `TLSCredentials.init`; the
    ///   old certificate then remains in use.
    func renew(_ identity: ServerConfiguration.Identity) throws(ServerFault) {
        guard configuration.identity != nil else { throw .library("there is no TLS") }
        let credentials = try TLSCredentials(identity)
        renewed.withLock { renewed in
            if renewed.last?.chain != credentials.chain { renewed.append(credentials) }
        }
    }

    /// Sets the newest certificate in a new connection's session; returns false if there is no
    /// memory.
    func presentNewest(in session: UnsafeMutableRawPointer) -> Bool {
        guard let newest = renewed.withLock({ $0.last }) else { return true }
        return unsafe newest.present(in: session)
    }

    /// Refuses new requests, waits until the running ones are answered or the limit is over, and
    /// closes.
    ///
    /// The library keeps listening during the wait: its function to stop listening
    /// (MHD_quiesce_daemon) sometimes ends the process if its thread looks at the socket at the
    /// same moment.
    func stop(within limit: Duration) async {
        stopping.store(true, ordering: .sequentiallyConsistent)
        var timer: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let isDrained = state.withLock { state in
                if active.load(ordering: .sequentiallyConsistent) == 0 { return true }
                state.drained = continuation
                return false
            }
            if isDrained { return continuation.resume() }
            // Not before the continuation is there, or a short limit would pass unnoticed.
            timer = Task { [self] in
                try? await Task.sleep(for: limit)
                state.withLock { $0.drained.take() }?.resume()
            }
        }
        timer?.cancel()
        close()
    }

    /// Stops at once: running handlers are cancelled, and their clients get 503.
    func close() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        let (daemon, running) = state.withLock { state in
            state.isClosed = true
            return (state.daemon.take(), state.running)
        }
        for exchange in running.values { exchange.abandon() }
        connections.end()
        guard let daemon, let pointer = unsafe OpaquePointer(bitPattern: daemon) else { return }
        unsafe MHD_stop_daemon(pointer)
        unsafe Unmanaged.passUnretained(self).release()
    }
}

extension Engine {
    /// Counts a request whose head has arrived.
    func exchangeBegan() { active.add(1, ordering: .sequentiallyConsistent) }

    /// Counts the end of a request: its answer was sent, or its client is gone.
    func exchangeEnded() {
        let before = active.subtract(1, ordering: .sequentiallyConsistent).oldValue
        guard before == 1, isStopping else { return }
        state.withLock { $0.drained.take() }?.resume()
    }

    /// Registers a request whose handler is running; returns false if the engine is closed.
    func remember(_ exchange: Exchange) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.running[exchange.key] = exchange
            return true
        }
    }

    /// Removes a request that has its answer.
    func forget(_ exchange: Exchange) {
        _ = state.withLock { $0.running.removeValue(forKey: exchange.key) }
    }

    /// Logs a message of the library, without its strings, which may come from a client.
    func report(form: String, text: String) {
        let isStart = state.withLock { state in
            state.startLines?.append(withoutEnd(text))
            return state.startLines != nil
        }
        configuration.log(withoutEnd(isStart ? text : loggable(form: form, text: text)))
        arriving.answerRefused(text)
    }

    /// Passes the TLS options to `body`; the key is in locked memory, which is wiped after the
    /// start.
    private func withIdentity(
        _ body: ([MHD_OptionItem]) -> OpaquePointer?
    ) -> OpaquePointer? {
        guard let identity = configuration.identity else { return unsafe body([]) }
        guard let key = try? terminated(identity.key) else { return nil }
        var chain = identity.chain + [0]
        var priorities = Array(tlsPriorities.utf8) + [0]
        return unsafe chain.withUnsafeMutableBytes { chain in
            unsafe priorities.withUnsafeMutableBytes { priorities in
                unsafe key.withBytes { key in
                    unsafe key.withUnsafeBytes { key in
                        let address = unsafe UnsafeMutableRawPointer(mutating: key.baseAddress)
                        return unsafe body([
                            item(.HTTPS_MEM_CERT, 0, pointer: chain.baseAddress),
                            item(.HTTPS_MEM_KEY, 0, pointer: address),
                            item(.HTTPS_PRIORITIES, 0, pointer: priorities.baseAddress),
                        ])
                    }
                }
            }
        }
    }
}

private func withoutEnd(_ line: String) -> String {
    line.last == "\n" ? String(line.dropLast()) : line
}

/// Copies the key and appends the NUL that ends a C string.
private func terminated(_ key: SecretBytes) throws(SystemFault) -> SecretBytes {
    try SecretBytes(count: key.count + 1) { target in
        key.withBytes { source in
            unsafe target.withUnsafeMutableBytes { to in
                unsafe source.withUnsafeBytes { unsafe to.copyMemory(from: $0) }
            }
        }
    }
}

private func startDaemon(
    _ options: inout [MHD_OptionItem], configuration: ServerConfiguration,
    context: UnsafeMutableRawPointer
) -> OpaquePointer? {
    var flags =
        MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
        | MHD_USE_ERROR_LOG.rawValue
    if configuration.identity != nil { flags |= MHD_USE_TLS.rawValue }
    return unsafe options.withUnsafeMutableBufferPointer { buffer in
        guard let start = buffer.baseAddress else { return nil }
        let arguments: [any CVarArg] = unsafe [
            Int32(MHD_OPTION.ARRAY.rawValue), start, Int32(MHD_OPTION.END.rawValue),
        ]
        return unsafe withVaList(arguments) { list in
            unsafe MHD_start_daemon_va(flags, 0, acceptCallback, context, accessCallback, nil, list)
        }
    }
}
