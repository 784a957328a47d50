import CFprint
import Loop

/// One reader: opened while somebody uses it, one operation at a time.
@ReaderActor
final class Device {
    /// How long a driver that does not heed cancellation is waited for.
    private static let patience = Duration.seconds(2)

    let id: String
    let handle: DeviceHandle
    private let serial: String?
    private let seat: String
    private(set) var isGone = false
    /// Whether the machine is about to sleep, or sleeps.
    private(set) var isSuspended = false
    /// Whether it could be opened once, and then could not.
    private(set) var isStale = false

    private var users = 0
    private var isOpen = false
    private var wasOpen = false
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
        /// Ends it with a fault, whether the driver heeds that or not.
        var giveUp: (ReaderFault) -> Void = { _ in }
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
                try await handle.open()
                (isOpen, wasOpen, isStale) = (true, true, false)
                finishMoving(.success(()))
            } catch {
                isStale = wasOpen && error.mayBeOfStaleReader
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
            try? await handle.close()
            finishMoving(.success(()))
        }
    }

    // MARK: Operations

    /// Runs one operation on the open reader, cancelled with the calling task or after `limit`.
    /// Throws `busy` while another runs; one that was cancelled is waited for.
    func run<Value: Sendable>(
        limit: Duration, _ body: @escaping @ReaderActor () async throws(ReaderFault) -> Value
    ) async throws(ReaderFault) -> Value {
        while let running {
            guard running.task?.isCancelled == true else { throw .busy }
            await running.end.wait()
        }
        let outcome = Outcome<Value>()
        let operation = Operation()
        running = operation
        let task = onReader { [self] in
            outcome.settle(await attempt(body))
            running = nil
            operation.end.settle(())
            settle()
        }
        operation.task = task
        operation.giveUp = { fault in
            task.cancel()
            outcome.giveUp(fault, after: Self.patience)
        }
        let deadline = Timer(onReaderAfter: limit) {
            task.cancel()
            outcome.giveUp(.timedOut, after: Self.patience)
        }
        defer { deadline.cancel() }
        return try await outcome.value {
            task.cancel()
            onReader { outcome.giveUp(.cancelled, after: Self.patience) }
        }
    }

    private func attempt<Value>(
        _ body: @ReaderActor () async throws(ReaderFault) -> Value
    ) async -> Result<Value, ReaderFault> {
        do throws(ReaderFault) {
            try await enter()
            defer { leave() }
            if Task.isCancelled { throw .cancelled }
            return .success(try await body())
        } catch {
            if error == .removed { isGone = true }
            if isSuspended && error == .cancelled { return .failure(.suspended) }
            return .failure(isGone ? .removed : error)
        }
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
