// SPDX-License-Identifier: Apache-2.0
import CGLib

/// A GSource that is ready at a given time, when a descriptor is ready, or both.
///
/// Executors, timers and watches are all built on it. It is attached once, and releasing the last
/// reference detaches it.
///
/// SAFETY: the pointer is a counted reference that lives as long as this object, and GLib guards
/// every `g_source_…` call used here with the context's own lock.
@safe final class Source: @unchecked Sendable {
    /// Runs on the context's thread, and returns false to detach the source.
    typealias Body = (FileWatch.Readiness) -> Bool

    /// The body, owned by the GSource, so that it survives if the source is released during its own
    /// dispatch.
    ///
    /// SAFETY: the tag is only used with the source that it came from, while that is alive.
    @safe private final class Action {
        let body: Body
        var tag: gpointer?

        init(_ body: @escaping Body) {
            self.body = body
        }
    }

    // SAFETY: written once here, only read by GLib from then on; never freed, as sources point to
    // it.
    private nonisolated(unsafe) static let functions = {
        let functions = UnsafeMutablePointer<GSourceFuncs>.allocate(capacity: 1)
        unsafe functions.initialize(to: GSourceFuncs())
        unsafe functions.pointee.dispatch = { source, _, data in
            guard let source = unsafe source, let data = unsafe data else { return 0 }
            let action = unsafe Unmanaged<Action>.fromOpaque(data).takeUnretainedValue()
            var ready = FileWatch.Readiness()
            if let tag = unsafe action.tag {
                ready = unsafe FileWatch.Readiness(g_source_query_unix_fd(source, tag))
            }
            return action.body(ready) ? 1 : 0
        }
        return unsafe functions
    }()

    private let pointer: UnsafeMutablePointer<GSource>
    private var tag: gpointer?

    init() {
        unsafe pointer = g_source_new(Source.functions, guint(MemoryLayout<GSource>.size))
    }

    deinit {
        unsafe g_source_destroy(pointer)
        unsafe g_source_unref(pointer)
    }

    /// Attaches the source to the context; the body does not run before the source is ready.
    func attach(
        to context: ContextExecutor, watching descriptor: Int32? = nil,
        for interest: FileWatch.Readiness = [], body: @escaping Body
    ) {
        let action = Action(body)
        if let descriptor {
            unsafe tag = g_source_add_unix_fd(pointer, descriptor, interest.condition)
            unsafe action.tag = tag
        }
        unsafe g_source_set_callback(
            pointer, { _ in 0 }, Unmanaged.passRetained(action).toOpaque(),
            { data in
                if let data = unsafe data { unsafe Unmanaged<Action>.fromOpaque(data).release() }
            })
        unsafe g_source_attach(pointer, context.context)
    }

    /// Makes the source ready after `delay`, replacing any earlier time.
    func ready(in delay: Duration = .zero) {
        let due = delay > .zero ? g_get_monotonic_time() &+ gint64(delay.microseconds) : 0
        unsafe g_source_set_ready_time(pointer, due)
    }

    /// Clears the ready time until the next `ready(in:)`.
    func rest() {
        unsafe g_source_set_ready_time(pointer, -1)
    }

    /// Changes the conditions that the descriptor is watched for, which may be none.
    func watch(for interest: FileWatch.Readiness) {
        guard let tag = unsafe tag else { return }
        unsafe g_source_modify_unix_fd(pointer, tag, interest.condition)
    }

    /// Detaches the source.
    ///
    /// If this is called on the context's thread, the body is guaranteed not to run again.
    func cancel() {
        unsafe g_source_destroy(pointer)
    }

    /// Runs `body` once on the context's thread, in its next iteration.
    static func post(to context: ContextExecutor, _ body: @escaping @Sendable () -> Void) {
        let source = Source()
        source.attach(to: context) { [source] _ in
            body()
            source.cancel()
            return false
        }
        source.ready()
    }
}

extension Duration {
    /// Whole microseconds, rounded up so that nothing fires early; at most a year.
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds < 31_536_000 else { return 31_536_000_000_000 }
        return seconds * 1_000_000 + (attoseconds + 999_999_999_999) / 1_000_000_000_000
    }
}
