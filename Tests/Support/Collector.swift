import CTestSupport
import Dispatch
import Glibc
import Synchronization

/// A datagram, or a run of bytes, and who sent it where the kernel told.
struct Chunk: Sendable {
    let bytes: [UInt8]
    let sender: sender?
}

/// Reads all that comes from a descriptor, as it comes, on a thread of its own, so that whoever
/// writes never blocks; ends with the descriptor's other end or with `stop()`.
final class Collector: Sendable {
    private struct State {
        var chunks: [Chunk] = []
        var isClosed = false
        var waiting: [DispatchSemaphore] = []
    }

    private final class Core: Sendable {
        let source: Int32
        let stop: Int32
        let state = Mutex(State())

        init(source: Int32, stop: Int32) {
            self.source = source
            self.stop = stop
        }

        func close() {
            Glibc.close(source)
            Glibc.close(stop)
        }

        func run() {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                var ends = [
                    pollfd(fd: source, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
                ]
                guard unsafe poll(&ends, 2, -1) > 0 else { continue }
                if ends[1].revents != 0 { break }
                var from = sender()
                let count = unsafe receive_some(source, &buffer, UInt(buffer.count), &from)
                if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
                guard count > 0 else { break }
                let chunk = Chunk(
                    bytes: Array(buffer[..<count]), sender: from.pid > 0 ? from : nil)
                change { $0.chunks.append(chunk) }
            }
            close()
            change { $0.isClosed = true }
        }

        private func change(_ body: (inout State) -> Void) {
            let waiting = state.withLock { state in
                body(&state)
                defer { state.waiting = [] }
                return state.waiting
            }
            for waiter in waiting { waiter.signal() }
        }
    }

    private let core: Core
    /// Closing it ends the thread.
    private let stopper: Mutex<Descriptor?>
    private let thread: pthread_t

    /// Starts collecting from a descriptor, which it closes at its end.
    init(from source: consuming Descriptor) throws(TestFault) {
        let stop = try Pipe()
        let copies = (dup(source.number), dup(stop.read.number))
        guard copies.0 >= 0, copies.1 >= 0 else {
            throw .system(call: "dup", subject: "a collector", code: errno)
        }
        _ = fcntl(copies.0, F_SETFD, FD_CLOEXEC)
        _ = fcntl(copies.1, F_SETFD, FD_CLOEXEC)
        let core = Core(source: copies.0, stop: copies.1)
        self.core = core
        stopper = Mutex(stop.write)
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(core)
        let code = unsafe pthread_create(
            &thread, nil,
            { context in
                guard let context = unsafe context else { return nil }
                unsafe Unmanaged<Core>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            unsafe context.release()
            core.close()
            throw .system(call: "pthread_create", subject: "a collector", code: code)
        }
        self.thread = thread
    }

    deinit { stop() }

    /// Ends collecting; what came stays.
    func stop() {
        let wasRunning = stopper.withLock { $0.take() != nil }
        if wasRunning { pthread_join(thread, nil) }
    }

    /// All that came until now.
    var chunks: [Chunk] { core.state.withLock { $0.chunks } }

    /// Whether the other end is closed, so that nothing more comes.
    var isClosed: Bool { core.state.withLock { $0.isClosed } }

    /// All bytes that came until now.
    var bytes: [UInt8] { chunks.flatMap(\.bytes) }

    /// Waits until `find` has an answer in what came; asks again whenever more came. Returns nil
    /// when the time is over or nothing more can come.
    func first<Answer>(
        within limit: Duration, _ find: ([Chunk], _ isClosed: Bool) -> Answer?
    ) -> Answer? {
        let deadline = ContinuousClock.now + limit
        while true {
            let waiter = DispatchSemaphore(value: 0)
            let (chunks, isClosed) = core.state.withLock { state in
                if !state.isClosed { state.waiting.append(waiter) }
                return (state.chunks, state.isClosed)
            }
            if let answer = find(chunks, isClosed) { return answer }
            let left = (deadline - ContinuousClock.now) / .milliseconds(1)
            if isClosed || left <= 0 { return nil }
            _ = waiter.wait(timeout: .now() + .milliseconds(Int(left.rounded(.up))))
        }
    }
}
