// SPDX-License-Identifier: Apache-2.0
import CGLib
import MainContext

/// Identifies a signal of one sender.
package struct BusSignal: Sendable {
    /// The sender's unique name (`:1.7`), or the bus itself.
    ///
    /// A well-known name is not accepted: the caller has to determine its owner, and to follow
    /// changes with `followOwner`.
    package let sender: String
    /// The object's path.
    package let path: String
    /// The interface that declares the signal.
    package let interface: String
    /// The signal's name.
    package let member: String
    /// The signature of the arguments, in parentheses: `(b)`.
    ///
    /// Signals with other arguments are ignored.
    package let type: String
    /// The string that a signal's first argument must be to be delivered; nil delivers all signals.
    package let first: String?

    /// Describes a signal.
    package init(
        from sender: String, path: String, interface: String, member: String, type: String,
        first: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.type = type
        self.first = first
    }

    fileprivate var isWellFormed: Bool {
        let isUnique = unsafe g_dbus_is_unique_name(sender) != 0
        return unsafe (isUnique || sender == BusConnection.busName)
            && g_variant_is_object_path(path) != 0 && g_dbus_is_interface_name(interface) != 0
            && g_dbus_is_member_name(member) != 0 && first?.utf8.contains(0) != true
    }
}

extension BusConnection {
    /// Delivers a signal until the result is released.
    ///
    /// Any client can send any signal to any other, even one that the match rules exclude.
    /// Therefore the sender, which the bus itself writes into each message, is checked here as
    /// well.
    ///
    /// - Returns: nil if the connection is closed or the description is malformed.
    package func subscribe(
        to signal: BusSignal, _ heard: @escaping @ServiceActor ([BusValue]) -> Void
    ) -> BusSubscription? {
        guard isOpen, signal.isWellFormed else { return nil }
        return BusSubscription(handle, signal: signal, heard)
    }

    /// Follows the owner of a name until the result is released.
    ///
    /// `changed` gets the new owner's unique name, or nil when no client owns the name.
    /// The present owner is not reported.
    package func followOwner(
        of name: String, _ changed: @escaping @ServiceActor (String?) -> Void
    ) -> BusSubscription? {
        let signal = BusSignal(
            from: Self.busName, path: "/org/freedesktop/DBus", interface: Self.busName,
            member: "NameOwnerChanged",
            type: "(sss)", first: name)
        return subscribe(to: signal) { values in
            guard values[0].string == name, let owner = values[2].string else { return }
            changed(owner.hasPrefix(":") ? owner : nil)
        }
    }
}

/// A subscription to a signal, which ends when it is released.
///
/// SAFETY: holds a counted reference to the connection, which the library locks; the id is only
/// used to end the subscription, once.
@safe package final class BusSubscription: @unchecked Sendable {
    private final class Action: Sendable {
        let signal: BusSignal
        let heard: @ServiceActor ([BusValue]) -> Void

        init(_ signal: BusSignal, _ heard: @escaping @ServiceActor ([BusValue]) -> Void) {
            self.signal = signal
            self.heard = heard
        }

        /// Delivers the message if its sender, path, names and types match.
        func take(
            _ sender: String, path: String, names: (String, String), body: OpaquePointer
        ) {
            guard sender == signal.sender, path == signal.path,
                names == (signal.interface, signal.member),
                let values = unsafe ValueCoding.values(of: body, type: signal.type)
            else { return }
            ServiceActor.assumeIsolated { heard(values) }
        }
    }

    // This is not inside an isolated function: closures there would be isolated too, and would trap
    // on other threads.
    private nonisolated static let callback: GDBusSignalCallback = {
        _, sender, path, interface, member, body, data in
        guard let sender = unsafe sender, let path = unsafe path, let interface = unsafe interface,
            let member = unsafe member, let body = unsafe body, let data = unsafe data
        else { return }
        let action = unsafe Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
        unsafe action.take(
            String(cString: sender), path: String(cString: path),
            names: (String(cString: interface), String(cString: member)), body: body)
    }

    private nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<Action>.fromOpaque(data).release() }
    }

    private let handle: ConnectionHandle
    private let id: guint

    @ServiceActor
    init(
        _ handle: ConnectionHandle, signal: BusSignal,
        _ heard: @escaping @ServiceActor ([BusValue]) -> Void
    ) {
        self.handle = handle
        unsafe id = g_dbus_connection_signal_subscribe(
            handle.pointer, signal.sender, signal.interface, signal.member, signal.path,
            signal.first, G_DBUS_SIGNAL_FLAGS_NONE, Self.callback,
            Unmanaged.passRetained(Action(signal, heard)).toOpaque(), Self.release)
    }

    deinit {
        unsafe g_dbus_connection_signal_unsubscribe(handle.pointer, id)
    }
}

/// Calls `body` when the connection has ended, until it is released.
///
/// SAFETY: it holds a counted reference to the connection, which the library locks; the handler's
/// id is only used to disconnect it, once.
@safe final class ClosedWatch: @unchecked Sendable {
    private final class Action: Sendable {
        let body: @ServiceActor () -> Void

        init(_ body: @escaping @ServiceActor () -> Void) {
            self.body = body
        }
    }

    private typealias Closed =
        @convention(c) (gpointer?, gboolean, UnsafeMutablePointer<GError>?, gpointer?) -> Void

    private nonisolated static let callback: Closed = { _, _, _, data in
        guard let data = unsafe data else { return }
        let action = unsafe Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
        ServiceActor.assumeIsolated { action.body() }
    }

    private nonisolated static let release: GClosureNotify = { data, _ in
        if let data = unsafe data { unsafe Unmanaged<Action>.fromOpaque(data).release() }
    }

    private let handle: ConnectionHandle
    private let id: gulong

    @ServiceActor
    init(_ handle: ConnectionHandle, _ body: @escaping @ServiceActor () -> Void) {
        self.handle = handle
        unsafe id = g_signal_connect_data(
            gpointer(handle.pointer), "closed", unsafeBitCast(Self.callback, to: GCallback.self),
            Unmanaged.passRetained(Action(body)).toOpaque(), Self.release,
            GConnectFlags(rawValue: 0))
    }

    deinit {
        unsafe g_signal_handler_disconnect(gpointer(handle.pointer), id)
    }
}
