// SPDX-License-Identifier: Apache-2.0
import CGLib
import Glibc

/// Delivers signals as callbacks on the service's thread until it is released.
///
/// GLib's handler stays installed afterwards (`g_unix_signal_source_new`), so a signal that
/// no object listens for is ignored.
///
/// SAFETY: the pointers are counted references made in `init` and dropped in `deinit`; the
/// context's lock guards what GLib does with them.
@safe package final class Signals: @unchecked Sendable {
    /// The signals that tell a service to exit or to read its settings again.
    package enum Signal: Int32, CaseIterable, Sendable {
        case hangUp = 1
        case interrupt = 2
        case terminate = 15
    }

    private final class Action: Sendable {
        let signal: Signal
        let body: @ServiceActor (Signal) -> Void

        init(_ signal: Signal, _ body: @escaping @ServiceActor (Signal) -> Void) {
            self.signal = signal
            self.body = body
        }
    }

    // Closures inside an isolated function would be isolated too, and `release` would trap when
    // this object is released on another thread.
    private nonisolated static let callback: GSourceFunc = { data in
        guard let data = unsafe data else { return 0 }
        let action = unsafe Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
        ServiceActor.assumeIsolated { action.body(action.signal) }
        return 1
    }

    private nonisolated static let release: GDestroyNotify = { data in
        if let data = unsafe data { unsafe Unmanaged<Action>.fromOpaque(data).release() }
    }

    private let sources: [UnsafeMutablePointer<GSource>]

    /// Calls `received` for each of `signals` that arrives from now on.
    @ServiceActor
    package init(_ signals: Set<Signal>, received: @escaping @ServiceActor (Signal) -> Void) {
        unsafe sources = signals.compactMap { signal in
            guard let source = unsafe g_unix_signal_source_new(signal.rawValue) else { return nil }
            unsafe g_source_set_callback(
                source, Self.callback, Unmanaged.passRetained(Action(signal, received)).toOpaque(),
                Self.release)
            unsafe g_source_attach(source, ContextExecutor.service.context)
            return unsafe source
        }
    }

    deinit {
        unsafe sources.forEach { source in
            unsafe g_source_destroy(source)
            unsafe g_source_unref(source)
        }
    }
}
