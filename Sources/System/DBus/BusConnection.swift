// SPDX-License-Identifier: Apache-2.0
import CGLib
import MainContext
import Posix

/// A connection to a message bus, on the service's thread: calls, properties and signals.
///
/// `export` (`BusServer.swift`) serves objects on it. GLib reads from the bus on its own thread,
/// which sleeps while nothing arrives. Errors are `BusFault`; their texts may come from the other
/// side and are only
/// for the journal.
@ServiceActor
package final class BusConnection {
    /// The name of the bus itself in its own messages, which no client can own.
    package nonisolated static let busName = "org.freedesktop.DBus"

    /// Called once when the connection has ended, including by `close()`.
    package var ended: (() -> Void)?
    /// Whether calls can be made.
    package private(set) var isOpen = true

    let handle: ConnectionHandle
    private var closing: ClosedWatch?

    private init(_ handle: ConnectionHandle) {
        self.handle = handle
        closing = ClosedWatch(handle) { [weak self] in self?.close() }
        // The connection may have ended before the watch was installed.
        isOpen = !handle.isClosed
    }

    /// Connects to the bus that listens at a path (`g_dbus_connection_new_for_address`).
    ///
    /// Environment variables have no effect on this.
    ///
    /// - Throws: `invalidCall` unless the path is absolute, `timedOut` after `limit`, or `noBus`.
    package static func connect(
        socket path: String, limit: Duration
    ) async throws(BusFault) -> BusConnection {
        guard let address = address(of: path) else { throw .invalidCall }
        return try await connect(address: address, limit: limit)
    }

    /// Connects to the bus at a D-Bus address.
    ///
    /// The address must be a single one of a Unix socket, because other kinds can start programs or
    /// use the network.
    ///
    /// - Throws: `invalidCall` for other addresses, `timedOut` after `limit`, or `noBus`.
    package static func connect(
        address: String, limit: Duration
    ) async throws(BusFault) -> BusConnection {
        guard address.hasPrefix("unix:"), !address.contains(";"), !address.utf8.contains(0) else {
            throw .invalidCall
        }
        let (result, expired) = await limited(to: limit) {
            await ConnectionHandle.connect(to: address)
        }
        switch result {
        case .success(let handle): return BusConnection(handle)
        case .failure(.cancelled) where expired: throw .timedOut
        case .failure(let fault): throw fault
        }
    }

    private static func address(of path: String) -> String? {
        guard path.hasPrefix("/"), !path.utf8.contains(0),
            let escaped = unsafe g_dbus_address_escape_value(path)
        else { return nil }
        defer { unsafe g_free(escaped) }
        return unsafe "unix:path=" + String(cString: escaped)
    }

    /// Calls a method and waits for its answer.
    ///
    /// - Throws: `timedOut` after `limit`, `unknown` if no client owns the name or the object,
    ///   interface or method does not exist, `refused` with the service's error message,
    ///   `malformed` if the answer has another type than stated, `invalidCall` if the call cannot
    ///   be sent, `closed` if the connection has ended, `cancelled` with the task.
    package func call(_ call: BusCall, limit: Duration) async throws(BusFault) -> BusAnswer {
        guard isOpen else { throw .closed }
        guard call.isWellFormed, let body = ValueCoding.body(call.arguments) else {
            throw .invalidCall
        }
        let flags = call.startsService ? G_DBUS_CALL_FLAGS_NONE : G_DBUS_CALL_FLAGS_NO_AUTO_START
        let reply: Reply
        do throws(GioFault) {
            reply = unsafe try await gioAsync { cancellable, ended, data in
                // The answer's type is checked below, because GLib's own check gives less
                // information.
                unsafe g_dbus_connection_call_with_unix_fd_list(
                    handle.pointer, call.destination, call.path, call.interface, call.member,
                    body.pointer, nil, flags, limit.wholeMilliseconds, nil, cancellable, ended, data
                )
            } finish: { result, error in
                var descriptors: UnsafeMutablePointer<GUnixFDList>?
                let body = unsafe g_dbus_connection_call_with_unix_fd_list_finish(
                    handle.pointer, &descriptors, result, error)
                return unsafe Reply(body, descriptors: descriptors)
            }
        } catch {
            throw BusFault(error)
        }
        guard let values = reply.values(type: call.answer) else { throw .malformed }
        return BusAnswer(values: values, descriptor: reply.descriptor())
    }

    /// Asks again while the answer is only late, for as long as it is wanted.
    ///
    /// A service that is slow has not said that it is not there.
    ///
    /// - Throws: what `ask` throws; `timedOut` only if the answer is no longer wanted, and `closed`
    ///   once the connection has ended.
    package func patiently<Value>(
        while isWanted: () -> Bool, _ ask: () async throws(BusFault) -> Value
    ) async throws(BusFault) -> Value {
        while true {
            do throws(BusFault) {
                return try await ask()
            } catch {
                guard error == .timedOut, isWanted() else { throw error }
            }
        }
    }

    /// Returns the unique name (`:1.7`) of the client that owns a name.
    ///
    /// - Throws: `unknown` if no client owns it.
    package func owner(of name: String, limit: Duration) async throws(BusFault) -> String {
        let answer = try await call(
            BusCall(
                to: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
                member: "GetNameOwner",
                arguments: [.string(name)], answer: "(s)"), limit: limit)
        guard let owner = answer.values.first?.string, owner.hasPrefix(":") else {
            throw .malformed
        }
        return owner
    }

    /// Acquires a name that no client owns, and does not queue for it.
    ///
    /// - Throws: `refused` if the policy of the bus does not allow it, or another client owns it.
    package func take(name: String, limit: Duration) async throws(BusFault) {
        let doNotQueue = BusValue.uint32(4)
        let answer = try await call(
            BusCall(
                to: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
                member: "RequestName",
                arguments: [.string(name), doNotQueue], answer: "(u)"), limit: limit)
        guard answer.values.first?.uint32 == 1 else { throw .refused("\(name) is taken") }
    }

    /// Ends the connection; its subscriptions deliver nothing from now on.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        closing = nil
        handle.close()
        ended?()
        ended = nil
    }
}

/// The raw answer to a call.
// SAFETY: two counted references, taken over in `init` and dropped in `deinit`.
@safe private final class Reply {
    private let body: OpaquePointer?
    private let descriptors: UnsafeMutablePointer<GUnixFDList>?

    init(_ body: OpaquePointer?, descriptors: UnsafeMutablePointer<GUnixFDList>?) {
        unsafe self.body = unsafe body
        unsafe self.descriptors = unsafe descriptors
    }

    deinit {
        if let body = unsafe body { unsafe g_variant_unref(body) }
        if let descriptors = unsafe descriptors { unsafe g_object_unref(descriptors) }
    }

    func values(type: String) -> [BusValue]? {
        unsafe body.flatMap { unsafe ValueCoding.values(of: $0, type: type) }
    }

    /// Duplicates the first descriptor, close-on-exec, because the list closes its own descriptors.
    func descriptor() -> ReceivedDescriptor? {
        guard let descriptors = unsafe descriptors,
            unsafe g_unix_fd_list_get_length(descriptors) > 0
        else { return nil }
        let number = unsafe g_unix_fd_list_get(descriptors, 0, nil)
        return number < 0 ? nil : ReceivedDescriptor(Descriptor(adopting: number))
    }
}

/// A counted reference to a `GDBusConnection`.
///
/// SAFETY: the reference count is atomic, and the library locks the connection itself.
@safe final class ConnectionHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    private init(owned: OpaquePointer) {
        unsafe pointer = unsafe owned
    }

    deinit {
        unsafe g_object_unref(gpointer(pointer))
    }

    @ServiceActor
    static func connect(to address: String) async -> Result<ConnectionHandle, BusFault> {
        let flags = GDBusConnectionFlags(
            rawValue: G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT.rawValue
                | G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION.rawValue)
        do throws(GioFault) {
            let handle = unsafe try await gioAsync { cancellable, ended, data in
                unsafe g_dbus_connection_new_for_address(
                    address, flags, nil, cancellable, ended, data)
            } finish: { result, error in
                unsafe g_dbus_connection_new_for_address_finish(result, error)
                    .map { unsafe ConnectionHandle(owned: $0) }
            }
            guard let handle else { return .failure(.noBus("no connection was made")) }
            return .success(handle)
        } catch {
            return .failure(error.isCancelled ? .cancelled : .noBus(error.message))
        }
    }

    var isClosed: Bool { unsafe g_dbus_connection_is_closed(pointer) != 0 }

    func close() {
        unsafe g_dbus_connection_close(pointer, nil, nil, nil)
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, from 1 to one hour; never -1, which GLib takes as its
    /// default limit.
    fileprivate var wholeMilliseconds: gint {
        let (seconds, attoseconds) = components
        guard seconds < 3_600 else { return 3_600_000 }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return max(1, gint(seconds * 1_000 + part))
    }
}
