// SPDX-License-Identifier: Apache-2.0
import CFprint
import LoginProtocol
import MainContext
import ReaderProtocol

/// One fingerprint reader, opened on demand and running one operation at a time.
///
/// `enter` and `leave` count the users: the first one opens the reader, and the reader is closed
/// once the last has left and nothing runs. Opening and closing are never cancelled, because not
/// every driver survives it; operations are. A driver may ignore a cancellation, so every caller's
/// wait for a cancelled operation has a time limit. Errors are `ReaderFault`: once the reader is
/// unplugged, `removed` replaces whatever the driver reported, and while the machine is suspended,
/// `suspended` replaces `cancelled`.
@ReaderActor
final class Device {
    /// How long a driver may take to act on a cancellation before the caller gets its fault.
    private static let patience = Duration.seconds(2)
    /// How long the next caller waits for a cancelled operation to end; some drivers take five
    /// seconds.
    private static let obstinacy = Duration.seconds(6)
    /// How long a finger may stay on the reader before the next caller is asked to have it lifted.
    private static let rest = Duration.milliseconds(500)

    let id: String
    let handle: DeviceHandle
    private let serial: String?
    private let seat: String
    private(set) var isGone = false
    /// Whether the machine is about to sleep or is asleep.
    private(set) var isSuspended = false
    /// Whether the last attempt to open the reader failed with a fault that enumerating the readers
    /// again may cure.
    private(set) var isStale = false
    /// Whether the driver failed or lost track of the protocol.
    ///
    /// The reader may then still have to deliver the verdict about the previous finger, which the
    /// driver would take for the verdict about the next one. Such a reader is reset before it is
    /// opened again.
    private var isConfused = false
    /// Called when the driver has not ended an operation six seconds after it was given up.
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
        // FpContext emits `device-removed` only after the device has been closed.
        unplugging = unsafe SignalConnection(handle.pointer, signal: "notify::removed") {
            [weak self] _ in
            onReader { self?.unplugged() }
        }
    }

    var description: ReaderDescription { handle.description(id: id, serial: serial, seat: seat) }

    /// The operation that runs on the reader; `end` settles when the driver has finished with it.
    @ReaderActor
    private final class Operation {
        let end = Pending<Void>()
        var task: Task<Void, Never>?
        /// Ends the operation with `timedOut` when its time limit is reached.
        var deadline: Timer?
        /// Runs from the cancellation on; when it fires, the driver counts as stuck.
        var obstinacy: Timer?
        /// Whether the caller has its result and the driver only waits until the finger is lifted.
        var isDecided = false
        /// Reports a fault to the caller, whether or not the driver acts on the cancellation.
        var giveUp: (ReaderFault) -> Void = { _ in }

        var isCancelled: Bool { task?.isCancelled == true }
    }

    // MARK: Opening and closing

    /// Opens the reader unless it is open, and keeps it open until the matching `leave()`.
    ///
    /// - Throws: `removed`, `suspended`, or the driver's fault. `leave()` must not be called then.
    func enter() async throws(ReaderFault) {
        users += 1
        do {
            try await open()
        } catch {
            leave()
            throw error
        }
    }

    /// Ends one use; the reader is closed in the background when no other use is left.
    func leave() {
        users -= 1
        settle()
    }

    /// Marks the reader as unplugged.
    ///
    /// A running operation is cancelled and ends with `removed`.
    func unplugged() {
        isGone = true
        running?.task?.cancel()
        settle()
    }

    /// Cancels the running operation and closes the reader for good.
    ///
    /// Returns when both are done, or after two seconds if the driver does not respond.
    func shut() async {
        isGone = true
        await quietenUnlessStuck()
    }

    /// Ends the running operation with `suspended` and closes the reader, even while it is held
    /// open.
    ///
    /// Returns when both are done, or after two seconds if the driver does not respond. No
    /// operation can run until `resume()`.
    func suspend() async {
        isSuspended = true
        running?.giveUp(.suspended)
        await quietenUnlessStuck()
    }

    /// Calls `quieten` and returns when it is done, or after two seconds if the driver never calls
    /// back.
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

    /// Allows the reader to be used again; the next operation opens it.
    func resume() { isSuspended = false }

    /// Cancels the running operation, waits for its end, and closes the reader.
    private func quieten() async {
        if let running {
            running.task?.cancel()
            await running.end.wait()
        }
        while let moving { _ = await moving.wait() }
        // After a resume in the meantime, another operation may have started.
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
        // In a separate task: the caller may be cancelled, opening must not be.
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

    /// Closes the reader if it is open, nothing runs, and it is unused, unplugged or suspended.
    private func settle() {
        guard isOpen, moving == nil, running == nil else { return }
        if users == 0 || isGone || isSuspended { startClosing() }
    }

    private func startClosing() {
        moving = Pending()
        isOpen = false
        onReader { [self] in
            // Closing an unplugged reader reports the removal once more; it is closed anyway.
            if !isGone || handle.closesWhenGone { try? await handle.close() }
            finishMoving(.success(()))
        }
    }

    // MARK: Operations

    /// Runs one operation on the reader, and opens the reader for it if necessary.
    ///
    /// The operation is cancelled with the calling task, or when `limit` is over. The caller of a
    /// cancelled operation gets its fault after two seconds at most, even if the driver keeps
    /// going. The body may give its verdict early: the caller then has its result while the driver
    /// still waits for the finger to be lifted. If an earlier operation is in that state, or was
    /// cancelled, this call first waits for it to end.
    ///
    /// - Parameters:
    ///   - limit: The time for everything, the wait for an earlier operation included. Time that
    ///     the machine spends asleep does not count.
    ///   - observer: Receives a request to lift the finger, if an earlier operation waits for that.
    /// - Throws: `busy` while another operation runs, `timedOut`, `cancelled`, `removed`,
    ///   `suspended`, or what the driver reported.
    func run<Value: Sendable>(
        limit: Duration, observer: ReaderEvent.Observer? = nil,
        _ body: @escaping @ReaderActor (EarlyResult<Value>) async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        let end = SuspendingClock.now + limit
        try await waitUntilFree(until: end, observer: observer)
        let outcome = Outcome<Value>()
        let operation = Operation()
        running = operation
        let verdict = EarlyResult<Value> { value in
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

    /// Calls `stuck` if the operation, which was given up, has not ended after `obstinacy`.
    private func expectEnd(of operation: Operation) {
        guard running === operation, operation.obstinacy == nil else { return }
        operation.obstinacy = Timer(onReaderAfter: Self.obstinacy) { [weak self] in
            guard let self, running === operation else { return }
            stuck()
        }
    }

    /// Whether an operation runs that is neither cancelled nor decided, or the reader is held open.
    var isInUse: Bool {
        if let running { return !running.isDecided && !running.isCancelled }
        return users > 0
    }

    /// Waits until the reader is unused and closed; returns false if it is in use or this takes
    /// longer than two seconds.
    func becomeIdle() async -> Bool {
        do throws(ReaderFault) {
            try await waitUntilFree(until: SuspendingClock.now + Self.patience, observer: nil)
        } catch { return false }
        while let moving { _ = await moving.wait() }
        return !isInUse && !isOpen
    }

    /// Waits until no operation runs.
    ///
    /// Only an operation that was cancelled or is decided is waited for. While a decided one waits
    /// for the finger to be lifted, `observer` is asked to have that done.
    ///
    /// - Throws: `busy` for any other operation, and for a cancelled one that has not ended after
    ///   `obstinacy`; `timedOut` at `end`; `cancelled` with the task.
    private func waitUntilFree(
        until end: SuspendingClock.Instant, observer: ReaderEvent.Observer?
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

    /// Runs the body on the opened reader, and replaces its fault by the cause if one is known.
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

/// The result that the caller of an operation gets: the driver's, or a fault in its place.
///
/// The first result stored is final. A cancellation that the driver reports is replaced by its
/// cause, such as `timedOut` or `suspended`.
@ReaderActor
private final class Outcome<Value: Sendable> {
    private var result: Result<Value, ReaderFault>?
    private var reason: ReaderFault?
    private var timer: Timer?
    private var waiting: CheckedContinuation<Void, Never>?

    /// Stores the driver's result, with a cancellation replaced by its cause.
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

    /// Stores an early result; returns false if there already is one or the operation was given up.
    func decide(_ value: Value) -> Bool {
        guard result == nil, reason == nil else { return false }
        settle(.success(value))
        return true
    }

    /// Stores `fault` as the cause, and as the result if the driver does not end within `patience`.
    func giveUp(_ fault: ReaderFault, after patience: Duration) {
        guard result == nil, reason == nil else { return }
        reason = fault
        timer = Timer(onReaderAfter: patience) { [self] in settle(.failure(fault)) }
    }

    /// Waits for the result; `cancelled` runs on any thread when the calling task is cancelled.
    func value(cancelled: @escaping @Sendable () -> Void) async throws(ReaderFault) -> Value {
        await withTaskCancellationHandler { @ReaderActor in
            guard result == nil else { return }
            await withCheckedContinuation { continuation in
                // The result may have arrived since the check: other jobs run during an await.
                if result == nil { waiting = continuation } else { continuation.resume() }
            }
        } onCancel: {
            cancelled()
        }
        guard let result else { throw .cancelled }
        return try result.get()
    }
}
