// SPDX-License-Identifier: Apache-2.0
import CGLib
import Synchronization

/// Runs blocking calls, one after another, on a thread besides the two loops.
///
/// The thread is started by a call, and ends when no calls are left. A call that hangs never blocks
/// the service's thread: its caller gets nil after the limit, and so do later callers, at once.
@ServiceActor
package final class SideThread {
    private let calls = Calls()
    private let lastStep: @Sendable () -> SuspendingClock.Instant?
    /// The number of calls that have exceeded their limit and have not returned.
    private var overdue = 0

    /// Creates the queue; the thread is started by the first call.
    ///
    /// - Parameter lastStep: When a call last got on, on whatever thread it is asked; nil if none did.
    package init(lastStep: @escaping @Sendable () -> SuspendingClock.Instant? = { nil }) {
        self.lastStep = lastStep
    }

    /// Runs a call after all earlier ones.
    ///
    /// A result that arrives too late is destroyed on the thread, because that may block as well.
    ///
    /// - Parameter limit: The time in which this call, or one before it, has to get on by a step; for
    ///   calls without steps, the time for everything, the wait for earlier calls included.
    /// - Parameter isTotal: Whether the limit is for everything, whatever steps are made.
    /// - Returns: nil if the limit is exceeded; nil at once while an earlier call has exceeded its
    ///   limit and has not returned.
    package func run<Value: Sendable>(
        limit: Duration, isTotal: Bool = false, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard overdue == 0 else { return nil }
        let outcome = Outcome<Value>()
        watch(outcome, since: .now, limit: limit, isTotal: isTotal)
        defer { outcome.timer?.cancel() }
        return await withCheckedContinuation { continuation in
            outcome.continuation = continuation
            calls.add { [self] in
                let value = Handed(body())
                onService {
                    if outcome.settle(value.content) { return }
                    self.overdue -= 1
                    self.calls.add { value.drop() }
                }
            }
        }
    }

    /// Settles an outcome with nil when no step was made for `limit`, since a moment at the earliest.
    private func watch<Value: Sendable>(
        _ outcome: Outcome<Value>, since moment: SuspendingClock.Instant, limit: Duration,
        isTotal: Bool = false
    ) {
        outcome.timer = Timer(after: SuspendingClock.now.duration(to: moment + limit)) { [self] in
            if !isTotal, let step = lastStep(), step > moment {
                watch(outcome, since: step, limit: limit)
            } else if outcome.settle(nil) {
                overdue += 1
            }
        }
    }

    /// Runs a call without a result after all earlier ones.
    package func later(_ body: @escaping @Sendable () -> Void) {
        calls.add(body)
    }
}

/// The result of a call until it is taken or destroyed; destroying it may take as long as the call.
private final class Handed<Value: Sendable>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: Value) {
        self.value = Mutex(value)
    }

    var content: Value? { value.withLock { $0 } }

    func drop() { value.withLock { $0 = nil } }
}

/// The queued calls, and the thread that makes them while there are any.
private final class Calls: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    func add(_ body: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(body)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { start() }
    }

    private func start() {
        let reference = unsafe Unmanaged.passRetained(self)
        let thread = unsafe g_thread_try_new(
            "vault",
            { data in
                guard let data = unsafe data else { return nil }
                unsafe Unmanaged<Calls>.fromOpaque(data).takeRetainedValue().run()
                return nil
            }, reference.toOpaque(), nil)
        guard let thread = unsafe thread else {
            // The call stays queued, and `add` tries to start the thread again for the next one.
            // Once this call has exceeded its limit, `run` adds no more, so that only `later` does.
            unsafe reference.release()
            return state.withLock { $0.isRunning = false }
        }
        unsafe g_thread_unref(thread)
    }

    private func run() {
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}

/// The outcome of a call; only the first one stored has an effect.
@ServiceActor
private final class Outcome<Value: Sendable> {
    var continuation: CheckedContinuation<Value?, Never>?
    var timer: Timer?
    private var isSettled = false

    /// Stores an outcome; returns false if there already is one.
    func settle(_ value: Value?) -> Bool {
        guard !isSettled else { return false }
        isSettled = true
        continuation?.resume(returning: value)
        continuation = nil
        return true
    }
}
