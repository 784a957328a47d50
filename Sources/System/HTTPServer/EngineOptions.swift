// SPDX-License-Identifier: Apache-2.0
import CMicrohttpd
import Glibc
import Posix

/// The GnuTLS priority string, which fixes the versions, ciphers and signatures of TLS.
///
/// It allows TLS 1.2 and 1.3, only with forward secrecy and authenticated encryption, in the
/// server's order of preference.
let tlsPriorities =
    "NONE:+VERS-TLS1.3:+VERS-TLS1.2:+AEAD:+SHA256:+SHA384:+ECDHE-ECDSA:+ECDHE-RSA"
    + ":+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM"
    + ":+GROUP-X25519:+GROUP-SECP256R1:+GROUP-SECP384R1:+COMP-NULL"
    + ":+SIGN-ECDSA-SECP256R1-SHA256:+SIGN-ECDSA-SECP384R1-SHA384:+SIGN-ECDSA-SHA256"
    + ":+SIGN-ECDSA-SHA384:+SIGN-EDDSA-ED25519:+SIGN-RSA-PSS-RSAE-SHA256"
    + ":+SIGN-RSA-PSS-RSAE-SHA384:+SIGN-RSA-PSS-RSAE-SHA512:+SIGN-RSA-SHA256"
    + ":+SIGN-RSA-SHA384:+SIGN-RSA-SHA512:+CTYPE-X509:%SERVER_PRECEDENCE"

/// The options of a daemon, in the form of `MHD_OPTION_ARRAY`.
func engineOptions(
    _ configuration: ServerConfiguration, socket: Int32, context: UnsafeMutableRawPointer
) -> [MHD_OptionItem] {
    // The logger comes first, so that it receives complaints about the other options.
    var options = unsafe [
        item(.EXTERNAL_LOGGER, signet_mhd_logger(), pointer: context),
        item(.LISTEN_SOCKET, Int(socket)),
        item(.CONNECTION_LIMIT, configuration.engineLimit),
        item(.CONNECTION_MEMORY_LIMIT, configuration.headerLimit),
        item(
            .CONNECTION_TIMEOUT,
            Int(max(1, configuration.idleTimeout.components.seconds))),
        item(.STRICT_FOR_CLIENT, 1),
        item(.URI_LOG_CALLBACK, unsafeBitCast(targetCallback, to: Int.self), pointer: context),
        item(.UNESCAPE_CALLBACK, unsafeBitCast(unescapeCallback, to: Int.self)),
        item(.NOTIFY_COMPLETED, unsafeBitCast(completedCallback, to: Int.self), pointer: context),
        item(
            .NOTIFY_CONNECTION, unsafeBitCast(connectionCallback, to: Int.self), pointer: context),
    ]
    if configuration.threads > 1 {
        unsafe options.append(item(.THREAD_POOL_SIZE, configuration.threads))
    }
    return unsafe options
}

/// Makes one option; `value` is its integer or function pointer.
func item(
    _ option: MHD_OPTION, _ value: Int = 0, pointer: UnsafeMutableRawPointer? = nil
) -> MHD_OptionItem {
    unsafe MHD_OptionItem(option: option, value: value, ptr_value: pointer)
}

private typealias EnginePointer = UnsafeMutableRawPointer

// SAFETY: `context` is the engine, which outlives the daemon that calls: `Engine.start`.
private func engine(_ context: EnginePointer?) -> Engine? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<Engine>.fromOpaque(context).takeUnretainedValue()
}

/// Receives the library's log messages.
@c @implementation
func signet_mhd_report(
    _ context: UnsafeMutableRawPointer?, _ format: UnsafePointer<CChar>?,
    _ line: UnsafePointer<CChar>?
) {
    unsafe engine(context)?.report(form: text(format) ?? "", text: text(line) ?? "")
}

/// Decides whether a connection is accepted: whether there is room for it, or can be made.
///
/// The library's own limits refuse new connections, and count single IPv6 addresses.
let acceptCallback:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<sockaddr>?, socklen_t) -> MHD_Result = {
        context, address, _ in
        guard let engine = unsafe engine(context) else { return .NO }
        let network = unsafe PeerNetwork(peerName(address))
        return engine.connections.makeRoom(for: network) ? .YES : .NO
    }

/// Receives the request target before the library parses it.
///
/// The returned object, an `Exchange`, represents the request from then on.
private let targetCallback:
    @convention(c) (EnginePointer?, UnsafePointer<CChar>?, OpaquePointer?) -> EnginePointer? = {
        context, target, connection in
        guard let engine = unsafe engine(context), let connection = unsafe connection,
            let found = unsafe signet_mhd_context(connection)
        else { return nil }
        let known = unsafe Unmanaged<Connection>.fromOpaque(found).takeUnretainedValue()
        known.allow(engine.requestNanoseconds)
        let exchange = unsafe Exchange(engine: engine, connection: known, target: text(target))
        unsafe hideQuery(of: target)
        unsafe engine.arriving.add(exchange, on: connection)
        return unsafe Unmanaged.passRetained(exchange).toOpaque()
    }

/// Ends a target behind its question mark, so that the library finds no arguments in it.
///
/// `RequestHead` reads the query from its own copy. The library would store each argument in the
/// buffer of the connection, and has faults there: 1.0.1 follows a null pointer behind a long query
/// whose last argument has no `=`, and 0.9.75 forgets a request whose arguments do not fit, without
/// telling that it has ended.
// SAFETY: the target lies in the library's buffer, which the library itself is about to change in
// the same way: it replaces the question mark by NUL, and then reads up to the next NUL.
private func hideQuery(of target: UnsafePointer<CChar>?) {
    // One behind a NUL stays, in a target that is refused; see `ArrivingHeads.forget`.
    guard let target = unsafe target, let mark = unsafe strchr(target, 0x3f) else { return }
    unsafe mark[1] = 0
}

/// Leaves paths undecoded, so that the server sees and matches them as sent.
private let unescapeCallback:
    @convention(c) (EnginePointer?, OpaquePointer?, UnsafeMutablePointer<CChar>?) -> Int = {
        _, _, text in
        guard let text = unsafe text else { return 0 }
        return unsafe strlen(text)
    }

private let completedCallback:
    @convention(c) (
        EnginePointer?, OpaquePointer?, UnsafeMutablePointer<EnginePointer?>?,
        MHD_RequestTerminationCode
    ) -> Void = { _, _, slot, _ in
        guard let request = unsafe slot?.pointee else { return }
        unsafe slot?.pointee = nil
        unsafe Unmanaged<Exchange>.fromOpaque(request).takeRetainedValue().end()
    }

private let connectionCallback:
    @convention(c) (
        EnginePointer?, OpaquePointer?, UnsafeMutablePointer<EnginePointer?>?,
        MHD_ConnectionNotificationCode
    ) -> Void = { context, connection, slot, code in
        guard let engine = unsafe engine(context), let connection = unsafe connection,
            let slot = unsafe slot
        else { return }
        if code == .CONNECTION_NOTIFY_STARTED {
            let peer = unsafe peerName(signet_mhd_address(connection))
            let opened = Connection(
                descriptor: unsafe signet_mhd_descriptor(connection), peer: peer,
                within: engine.idleNanoseconds)
            engine.connections.add(opened)
            if let session = unsafe signet_mhd_session(connection),
                unsafe !engine.presentNewest(in: session)
            {
                engine.configuration.log("out of memory: the first certificate stays in use")
            }
            unsafe slot.pointee = Unmanaged.passRetained(opened).toOpaque()
        } else if let known = unsafe slot.pointee {
            unsafe slot.pointee = nil
            unsafe engine.arriving.forget(connection)
            let closed = unsafe Unmanaged<Connection>.fromOpaque(known).takeRetainedValue()
            engine.connections.remove(closed)
        }
    }

/// Called by the library for each step of a request.
let accessCallback:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafeMutablePointer<Int>?,
        UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> MHD_Result = { _, connection, target, method, version, part, count, slot in
        guard let connection = unsafe connection, let count = unsafe count,
            let request = unsafe slot?.pointee
        else { return .NO }
        let exchange = unsafe Unmanaged<Exchange>.fromOpaque(request).takeUnretainedValue()
        let bytes = unsafe UnsafeRawBufferPointer(
            start: part, count: part == nil ? 0 : count.pointee)
        unsafe count.pointee = 0
        let call = unsafe LibraryCall(
            connection: connection, method: method, target: target, version: version)
        return unsafe exchange.advance(call, part: bytes) ? .YES : .NO
    }
