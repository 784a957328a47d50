import CFprint

/// Runs blocking calls one after the other on a thread beside the two loops.
///
/// The thread is GLib's: it starts with a call and ends when there is none any more.
// SAFETY: the pool is made once, never freed, and GLib guards it with a lock of its own; a call is
// handed over retained and taken once.
@ServiceActor
@safe package final class SideThread {
    private let pool: UnsafeMutablePointer<GThreadPool>?
    /// Calls that took longer than they may, and have not come back.
    private var overdue = 0

    /// A thread that does not run yet.
    package init() {
        unsafe pool = newPool()
    }

    /// Runs a call after all earlier ones; nil where it takes longer than the limit, or at once
    /// where an earlier one still does.
    ///
    /// What comes too late is dropped on the thread.
    package func run<Value: Sendable>(
        limit: Duration, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard overdue == 0 else { return nil }
        let outcome = Outcome<Value>()
        let timer = Timer(after: limit) { [self] in
            if outcome.settle(nil) { overdue += 1 }
        }
        defer { timer.cancel() }
        return await withCheckedContinuation { continuation in
            outcome.continuation = continuation
            push { [self] in
                let value = body()
                onService { if !outcome.settle(value) { self.overdue -= 1 } }
            }
        }
    }

    /// Runs a call after all earlier ones, for its effect.
    package func later(_ body: @escaping @Sendable () -> Void) {
        push(body)
    }

    private func push(_ body: @escaping @Sendable () -> Void) {
        unsafe g_thread_pool_push(pool, Unmanaged.passRetained(Call(body)).toOpaque(), nil)
    }
}

/// A call on its way to the thread.
private final class Call: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

/// Outside of the actor: what is written within it would be held to its thread.
private nonisolated func newPool() -> UnsafeMutablePointer<GThreadPool>? {
    // Of the whole process: no thread stays only because another call might come.
    g_thread_pool_set_max_unused_threads(0)
    return unsafe g_thread_pool_new(
        { data, _ in
            guard let data = unsafe data else { return }
            unsafe Unmanaged<Call>.fromOpaque(data).takeRetainedValue().body()
        }, nil, 1, 0, nil)
}

/// What becomes of a call: the first settlement counts.
@ServiceActor
private final class Outcome<Value: Sendable> {
    var continuation: CheckedContinuation<Value?, Never>?
    private var isSettled = false

    /// Whether this was the first.
    func settle(_ value: Value?) -> Bool {
        guard !isSettled else { return false }
        isSettled = true
        continuation?.resume(returning: value)
        continuation = nil
        return true
    }
}
