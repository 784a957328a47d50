// SPDX-License-Identifier: Apache-2.0
import CGLib
import Posix
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
    /// - Parameter limit: How long this call, or one before it, may wait for a step, the whole call where
    ///   there are no steps. Time that a busy machine does not give to the thread is no waiting: up to
    ///   eight times the limit are added for it.
    /// - Returns: nil if the limit is exceeded; nil at once while an earlier call has exceeded its
    ///   limit and has not returned.
    package func run<Value: Sendable>(
        limit: Duration, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        guard overdue == 0 else { return nil }
        let outcome = Outcome<Value>()
        watch(outcome, Patience(limit: limit, use: calls.use))
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

    /// Settles an outcome with nil when the thread has waited for too long.
    private func watch<Value: Sendable>(_ outcome: Outcome<Value>, _ patience: Patience) {
        outcome.timer = Timer(after: patience.interval) { [self] in
            var patience = patience
            patience.look(at: calls.use, lastStep: lastStep())
            if patience.isOver { giveUp(outcome) } else { watch(outcome, patience) }
        }
    }

    private func giveUp<Value: Sendable>(_ outcome: Outcome<Value>) {
        if outcome.settle(nil) { overdue += 1 }
    }

    /// Runs a call without a result after all earlier ones.
    package func later(_ body: @escaping @Sendable () -> Void) {
        calls.add(body)
    }
}

/// How long the thread has waited since its last step: the time that has passed, less the time for
/// which it ran or wanted to.
private struct Patience {
    /// The interval at which to look.
    let interval: Duration
    private let limit: Duration
    private var (waited, passed) = (Duration.zero, Duration.zero)
    private var use: Duration
    private var lastLook: SuspendingClock.Instant
    private var lastStep: SuspendingClock.Instant

    init(limit: Duration, use: Duration) {
        self.limit = limit
        interval = limit / 8
        self.use = use
        lastLook = .now
        lastStep = lastLook
    }

    /// Takes the time for which the thread has run or wanted to, and when it made its last step.
    mutating func look(at use: Duration, lastStep step: SuspendingClock.Instant?) {
        let now = SuspendingClock.now
        if let step, step > lastStep {
            (lastStep, waited, passed) = (step, .zero, .zero)
            lastLook = max(lastLook, step)
        }
        // A process that was stopped in between looks late, and has not waited all that time.
        let time = min(now - lastLook, interval * 2)
        passed += time
        waited += max(.zero, time - max(.zero, use - self.use))
        (self.use, lastLook) = (use, now)
    }

    var isOver: Bool { waited >= limit || passed >= limit * 9 }
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
        /// The thread, while it runs.
        var thread: ThreadNumber?
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

    /// For how long the thread has run or wanted to; zero while there is none.
    var use: Duration { state.withLock { $0.thread }?.use ?? .zero }

    private func run() {
        state.withLock { $0.thread = ThreadNumber() }
        while let body = next() { body() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                (state.isRunning, state.thread) = (false, nil)
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
