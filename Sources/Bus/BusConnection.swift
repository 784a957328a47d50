// SPDX-License-Identifier: Apache-2.0
import CGLib
import Loop
import Posix

/// A connection to a message bus, on the service's thread: calls, properties and signals of others.
/// It offers no object.
///
/// The library's own thread reads from the bus; it sleeps while nothing comes.
@ServiceActor
package final class BusConnection {
    /// The name of the bus itself, in its own messages; nobody else can have it.
    package nonisolated static let busName = "org.freedesktop.DBus"

    /// Runs when the connection has ended from the other side.
    package var ended: (() -> Void)?
    /// Whether calls can be made.
    package private(set) var isOpen = true

    let handle: ConnectionHandle
    private var closing: ClosedWatch?

    private init(_ handle: ConnectionHandle) {
        self.handle = handle
        closing = ClosedWatch(handle) { [weak self] in self?.close() }
        // It may have ended before anybody listened.
        isOpen = !handle.isClosed
    }

    /// Connects to the bus that listens at this path; the environment has no say in it
    /// (`g_dbus_connection_new_for_address`).
    package static func connect(
        socket path: String, limit: Duration
    ) async throws(BusFault) -> BusConnection {
        guard let address = address(of: path) else { throw .invalidCall }
        return try await connect(address: address, limit: limit)
    }

    /// Connects to the bus at an address of D-Bus, which must be of a Unix socket: others may start
    /// programs or go over the network.
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

    /// Calls a method and waits for its answer, which is of just the form that was asked for.
    ///
    /// Throws `timedOut` after `limit`, `unknown` where nobody has the name, `refused` with what the
    /// other side said, `malformed` for an answer of another form.
    package func call(_ call: BusCall, limit: Duration) async throws(BusFault) -> BusAnswer {
        guard isOpen else { throw .closed }
        guard call.isWellFormed, let body = ValueCoding.body(call.arguments) else {
            throw .invalidCall
        }
        let flags = call.startsService ? G_DBUS_CALL_FLAGS_NONE : G_DBUS_CALL_FLAGS_NO_AUTO_START
        let reply: Reply
        do throws(GioFault) {
            reply = unsafe try await gioAsync { cancellable, ended, data in
                // The type is checked below: the library's own check tells less.
                unsafe g_dbus_connection_call_with_unix_fd_list(
                    handle.pointer, call.destination, call.path, call.interface, call.member,
                    body.pointer, nil, flags, limit.wholeMilliseconds, nil, cancellable, ended, data
                )
            } finish: { result, error in
                var descriptors: UnsafeMutablePointer<GUnixFDList>?
                let body = unsafe g_dbus_connection_call_with_unix_fd_list_finish(
                    handle.pointer, &descriptors, result, error)
                return unsafe Reply(body, descriptors)
            }
        } catch {
            throw BusFault(error)
        }
        guard let values = reply.values(type: call.answer) else { throw .malformed }
        return BusAnswer(values: values, descriptor: reply.descriptor())
    }

    /// Who has a name now, as the bus calls them (`:1.7`). Throws `unknown` where nobody has.
    package func owner(of name: String, limit: Duration) async throws(BusFault) -> String {
        let answer = try await call(
            BusCall(
                to: Self.busName, "/org/freedesktop/DBus", Self.busName, "GetNameOwner",
                [.string(name)], answer: "(s)"), limit: limit)
        guard let owner = answer.values.first?.string, owner.hasPrefix(":") else {
            throw .malformed
        }
        return owner
    }

    /// Takes a name that nobody else has; throws `refused` where the bus's policy does not allow it, or
    /// somebody has it.
    package func take(name: String, limit: Duration) async throws(BusFault) {
        let doNotQueue = BusValue.uint32(4)
        let answer = try await call(
            BusCall(
                to: Self.busName, "/org/freedesktop/DBus", Self.busName, "RequestName",
                [.string(name), doNotQueue], answer: "(u)"), limit: limit)
        guard answer.values.first?.uint32 == 1 else { throw .refused("somebody has \(name)") }
    }

    /// Ends the connection; what was subscribed to is silent from now on.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        closing = nil
        handle.close()
        ended?()
        ended = nil
    }
}

/// What came for a call, before it was looked at.
// SAFETY: two counted references, taken over in `init` and dropped in `deinit`.
@safe private final class Reply {
    private let body: OpaquePointer?
    private let descriptors: UnsafeMutablePointer<GUnixFDList>?

    init(_ body: OpaquePointer?, _ descriptors: UnsafeMutablePointer<GUnixFDList>?) {
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

    /// The first of what came; the list closes them all, so it is a duplicate, close-on-exec.
    func descriptor() -> ReceivedDescriptor? {
        guard let descriptors = unsafe descriptors,
            unsafe g_unix_fd_list_get_length(descriptors) > 0
        else { return nil }
        let number = unsafe g_unix_fd_list_get(descriptors, 0, nil)
        return number < 0 ? nil : ReceivedDescriptor(Descriptor(adopting: number))
    }
}

/// A reference to the library's connection.
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
    /// Whole milliseconds, rounded up, at most an hour: a limit is never none.
    fileprivate var wholeMilliseconds: gint {
        let (seconds, attoseconds) = components
        guard seconds < 3_600 else { return 3_600_000 }
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return max(1, gint(seconds * 1_000 + part))
    }
}
