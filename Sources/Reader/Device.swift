// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import Loop
import ReaderProtocol

/// One reader: opened while somebody uses it, one operation at a time.
@ReaderActor
final class Device {
    /// How long a driver that does not heed cancellation is waited for.
    private static let patience = Duration.seconds(2)
    /// How long one that was cancelled is waited for by whoever comes next: some take five seconds.
    private static let obstinacy = Duration.seconds(6)
    /// How long a finger may rest on the reader before whoever comes next is told to lift it.
    private static let rest = Duration.milliseconds(500)

    let id: String
    let handle: DeviceHandle
    private let serial: String?
    private let seat: String
    private(set) var isGone = false
    /// Whether the machine is about to sleep, or sleeps.
    private(set) var isSuspended = false
    /// Whether it could not be opened, for a reason that finding it anew may mend.
    private(set) var isStale = false
    /// Whether its driver did not understand it, or failed: what it has not said yet may be a verdict
    /// of the finger before, which the driver would take for that of the next.
    private var isConfused = false
    /// Runs where the driver goes on with what it was to end.
    var stuck: () -> Void = {}

    private var users = 0
    private var isOpen = false
    private var moving: Pending<Result<Void, ReaderFault>>?
    private var running: Operation?
    private var unplugging: SignalConnection?

    init(_ handle: DeviceHandle, id: String) {
        self.handle = handle
        self.id = id
        (serial, seat) = (handle.serial, handle.seat)
        // The context tells of it only after the reader was closed.
        unplugging = unsafe SignalConnection(handle.pointer, "notify::removed") { [weak self] _ in
            onReader { self?.unplugged() }
        }
    }

    var description: ReaderDescription { handle.description(id: id, serial: serial, seat: seat) }

    /// What runs on the reader, and how to wait for its end.
    @ReaderActor
    private final class Operation {
        let end = Pending<Void>()
        var task: Task<Void, Never>?
        /// Cancels it when its time is over.
        var deadline: Timer?
        /// Runs since it was cancelled.
        var obstinacy: Timer?
        /// Whether the caller has its answer, and the reader only waits until the finger is lifted.
        var isDecided = false
        /// Ends it with a fault, whether the driver heeds that or not.
        var giveUp: (ReaderFault) -> Void = { _ in }

        var isCancelled: Bool { task?.isCancelled == true }
    }

    // MARK: Opening and closing

    /// Opens the reader unless it is open, and keeps it so until the matching `leave()`.
    func enter() async throws(ReaderFault) {
        users += 1
        do {
            try await open()
        } catch {
            leave()
            throw error
        }
    }

    /// Lets the reader be closed when nobody else uses it; does not wait for that.
    func leave() {
        users -= 1
        settle()
    }

    /// Marks the reader as unplugged: whatever runs on it ends with `removed`.
    func unplugged() {
        isGone = true
        running?.task?.cancel()
        settle()
    }

    /// Ends what runs, and closes the reader; returns when both are done, or the driver has not
    /// heeded it for a while.
    func shut() async {
        isGone = true
        await quietenUnlessStuck()
    }

    /// Ends what runs with `suspended` and closes the reader, whoever holds it open; returns when
    /// that is done, or the driver has not heeded it for a while. Nothing runs until `resume()`.
    func suspend() async {
        isSuspended = true
        running?.giveUp(.suspended)
        await quietenUnlessStuck()
    }

    /// A driver that never calls back must not hold up whoever waits for the reader.
    private func quietenUnlessStuck() async {
        let done = Pending<Void>()
        let limit = Timer(onReaderAfter: Self.patience) { done.settle(()) }
        onReader { [self] in
            await quieten()
            done.settle(())
        }
        await done.wait()
        limit.cancel()
    }

    /// Lets the reader be used again.
    func resume() { isSuspended = false }

    private func quieten() async {
        if let running {
            running.task?.cancel()
            await running.end.wait()
        }
        while let moving { _ = await moving.wait() }
        // Somebody may have begun something since, if it was resumed meanwhile.
        if isOpen, running == nil { startClosing() }
        while let moving { _ = await moving.wait() }
    }

    private func open() async throws(ReaderFault) {
        while let moving { _ = await moving.wait() }
        if isGone { throw .removed }
        if isSuspended { throw .suspended }
        if isOpen { return }
        let opening = Pending<Result<Void, ReaderFault>>()
        moving = opening
        // In a task of its own: the caller may be cancelled, opening may not.
        onReader { [self] in
            do throws(ReaderFault) {
                if isConfused {
                    guard handle.reset() else { throw .protocolError }
                    isConfused = false
                }
                try await handle.open()
                (isOpen, isStale) = (true, false)
                finishMoving(.success(()))
            } catch {
                handle.closeLeftOpen()
                isStale = error.mayBeOfStaleReader
                finishMoving(.failure(error))
            }
        }
        try await opening.wait().get()
    }

    private func finishMoving(_ result: Result<Void, ReaderFault>) {
        let moved = moving
        moving = nil
        moved?.settle(result)
        onReader { [self] in settle() }
    }

    /// Closes a reader that is unplugged or that nobody uses, once nothing runs on it.
    private func settle() {
        guard isOpen, moving == nil, running == nil else { return }
        if users == 0 || isGone || isSuspended { startClosing() }
    }

    private func startClosing() {
        moving = Pending()
        isOpen = false
        onReader { [self] in
            // A reader that was unplugged reports that once more; it is closed all the same.
            if !isGone || handle.closesWhenGone { try? await handle.close() }
            finishMoving(.success(()))
        }
    }

    // MARK: Operations

    /// Runs one operation on the open reader, cancelled with the calling task or after `limit`.
    ///
    /// The body may give its verdict early: the caller has it then, and the operation goes on to its
    /// own end. Throws `busy` while another runs; one that was cancelled, or only waits until the
    /// finger is lifted, is waited for, and `observer` hears that it has to be.
    func run<Value: Sendable>(
        limit: Duration, observer: ReaderEvent.Observer? = nil,
        _ body: @escaping @ReaderActor (Verdict<Value>) async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        let end = SuspendingClock.now + limit
        try await waitUntilFree(until: end, observer)
        let outcome = Outcome<Value>()
        let operation = Operation()
        running = operation
        let verdict = Verdict<Value> { value in
            operation.isDecided = outcome.decide(value)
            return operation.isDecided
        }
        let task = onReader { [self] in
            outcome.settle(
                await attempt { () async throws(ReaderFault) in try await body(verdict) })
            operation.deadline?.cancel()
            operation.obstinacy?.cancel()
            running = nil
            operation.end.settle(())
            settle()
        }
        operation.task = task
        operation.giveUp = { [weak self] fault in
            task.cancel()
            outcome.giveUp(fault, after: Self.patience)
            self?.expectEnd(of: operation)
        }
        operation.deadline = Timer(onReaderAfter: end - SuspendingClock.now) {
            operation.giveUp(.timedOut)
        }
        return try await outcome.value {
            task.cancel()
            onReader { operation.giveUp(.cancelled) }
        }
    }

    /// Tells where an operation that was cancelled does not end.
    private func expectEnd(of operation: Operation) {
        guard running === operation, operation.obstinacy == nil else { return }
        operation.obstinacy = Timer(onReaderAfter: Self.obstinacy) { [weak self] in
            guard let self, running === operation else { return }
            stuck()
        }
    }

    /// Whether something runs on the reader that nobody has ended, or it is held open.
    var isInUse: Bool {
        if let running { return !running.isDecided && !running.isCancelled }
        return users > 0
    }

    /// Waits until the reader is closed, which nobody uses any more; false where it is not in time.
    func becomeIdle() async -> Bool {
        do throws(ReaderFault) {
            try await waitUntilFree(until: SuspendingClock.now + Self.patience, nil)
        } catch { return false }
        while let moving { _ = await moving.wait() }
        return !isInUse && !isOpen
    }

    private func waitUntilFree(
        until end: SuspendingClock.Instant, _ observer: ReaderEvent.Observer?
    ) async throws(ReaderFault) {
        while let running {
            guard running.isDecided || running.isCancelled else { throw .busy }
            let left = end - SuspendingClock.now
            let free = Outcome<Void>()
            onReader {
                await running.end.wait()
                free.settle(.success(()))
            }
            let patience = running.isCancelled ? min(left, Self.obstinacy) : left
            let limit = Timer(onReaderAfter: patience) {
                free.settle(.failure(running.isCancelled ? .busy : .timedOut))
            }
            let nudge = Timer(onReaderAfter: Self.rest) { [id] in
                guard !running.isCancelled else { return }
                observer?(ReaderEvent(reader: id, kind: .retry(.removeFinger)))
            }
            defer {
                limit.cancel()
                nudge.cancel()
            }
            try await free.value { onReader { free.settle(.failure(.cancelled)) } }
        }
    }

    private func attempt<Value>(
        _ body: @ReaderActor () async throws(ReaderFault) -> Value
    ) async -> Result<Value, ReaderFault> {
        do throws(ReaderFault) {
            try await enter()
            defer { leave() }
            if Task.isCancelled { throw .cancelled }
            do throws(ReaderFault) {
                return .success(try await body())
            } catch {
                isConfused = isConfused || error.leavesReaderConfused
                throw error
            }
        } catch {
            if error == .removed { isGone = true }
            if isSuspended && error == .cancelled { return .failure(.suspended) }
            return .failure(isGone ? .removed : error)
        }
    }
}

/// What an operation gives its caller before it is over.
@ReaderActor
final class Verdict<Value: Sendable> {
    /// Whether it was given: nobody hears any more of what the operation comes to.
    private(set) var isGiven = false
    private let take: (Value) -> Bool

    init(_ take: @escaping (Value) -> Bool) {
        self.take = take
    }

    /// Gives it, unless the operation is being ended already: then its end tells.
    func give(_ value: Value) {
        if !isGiven { isGiven = take(value) }
    }
}

/// The end of an operation: the driver's, or the fault that is reported in its place.
@ReaderActor
private final class Outcome<Value: Sendable> {
    private var result: Result<Value, ReaderFault>?
    private var reason: ReaderFault?
    private var timer: Timer?
    private var waiting: CheckedContinuation<Void, Never>?

    /// What the driver ended with; a cancellation is reported as what led to it.
    func settle(_ ended: Result<Value, ReaderFault>) {
        guard result == nil else { return }
        if case .failure(.cancelled) = ended, let reason {
            result = .failure(reason)
        } else {
            result = ended
        }
        timer = nil
        waiting?.resume()
        waiting = nil
    }

    /// Settles with a value that came before the end; false where something else led to that first.
    func decide(_ value: Value) -> Bool {
        guard result == nil, reason == nil else { return false }
        settle(.success(value))
        return true
    }

    /// Settles with `fault` unless the driver ends by itself within `patience`.
    func giveUp(_ fault: ReaderFault, after patience: Duration) {
        guard result == nil, reason == nil else { return }
        reason = fault
        timer = Timer(onReaderAfter: patience) { [self] in settle(.failure(fault)) }
    }

    func value(cancelled: @escaping @Sendable () -> Void) async throws(ReaderFault) -> Value {
        await withTaskCancellationHandler { @ReaderActor in
            guard result == nil else { return }
            await withCheckedContinuation { continuation in
                // It may have come since: an await lets other jobs have their turn.
                if result == nil { waiting = continuation } else { continuation.resume() }
            }
        } onCancel: {
            cancelled()
        }
        guard let result else { throw .cancelled }
        return try result.get()
    }
}
