// SPDX-License-Identifier: Apache-2.0
import CFprint

/// A connection to a GObject signal that passes one argument, such as `device-added`.
///
/// It is disconnected when the last reference goes away. The body runs on the thread that emits the
/// signal.
///
/// SAFETY: holds a counted reference to the object for as long as it is connected; GObject locks
/// its handler list.
@safe final class SignalConnection: @unchecked Sendable {
    /// Receives the address of the signal's argument, which identifies an object.
    typealias Body = (UInt) -> Void

    private final class Action {
        let body: Body

        init(_ body: @escaping Body) {
            self.body = body
        }
    }

    private let object: gpointer
    private let handler: gulong

    init(_ object: gpointer, signal: String, body: @escaping Body) {
        let call: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = {
            _, argument, data in
            guard let data = unsafe data else { return }
            let action = unsafe Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
            action.body(UInt(bitPattern: argument))
        }
        unsafe self.object = unsafe object
        unsafe g_object_ref(object)
        unsafe handler = g_signal_connect_data(
            object, signal, unsafeBitCast(call, to: GCallback.self),
            Unmanaged.passRetained(Action(body)).toOpaque(),
            { data, _ in
                if let data = unsafe data { unsafe Unmanaged<Action>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }

    deinit {
        unsafe g_signal_handler_disconnect(object, handler)
        unsafe g_object_unref(object)
    }
}
