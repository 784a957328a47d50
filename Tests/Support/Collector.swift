// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Dispatch
import Glibc
import Synchronization

/// A datagram, or a run of bytes, and who sent it where the kernel told.
struct Chunk: Sendable {
    let bytes: [UInt8]
    let sender: sender?
    /// From which of the collector's descriptors: 0 or 1.
    let source: Int
}

/// Reads all that comes from one descriptor or two, as it comes, on a thread of its own, so that a writer
/// never blocks; ends with their other ends or with `stop()`.
final class Collector: Sendable {
    private struct State {
        var chunks: [Chunk] = []
        var isClosed = false
        var waiting: [DispatchSemaphore] = []
    }

    private final class Core: Sendable {
        let sources: [Int32]
        let stop: Int32
        let copy: Int32?
        let state = Mutex(State())

        init(sources: [Int32], stop: Int32, copy: Int32?) {
            self.sources = sources
            self.stop = stop
            self.copy = copy
        }

        func close() {
            for source in sources { Glibc.close(source) }
            Glibc.close(stop)
        }

        func run() {
            // An end that is closed is polled no more: poll skips negative numbers.
            var ends = (sources + [stop]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while ends.dropLast().contains(where: { $0.fd >= 0 }) {
                guard unsafe poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
                if ends[sources.count].revents != 0 { break }
                for index in sources.indices where ends[index].revents != 0 {
                    if !receive(from: index) { ends[index].fd = -1 }
                }
            }
            close()
            change { $0.isClosed = true }
        }

        private func receive(from index: Int) -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var from = sender()
            let count = unsafe receive_some(sources[index], &buffer, UInt(buffer.count), &from)
            if count < 0 && (errno == EINTR || errno == EAGAIN) { return true }
            guard count > 0 else { return false }
            let chunk = Chunk(
                bytes: Array(buffer[..<count]), sender: from.pid > 0 ? from : nil, source: index)
            if let copy { _ = unsafe write_quietly(copy, buffer, UInt(count)) }
            change { $0.chunks.append(chunk) }
            return true
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

    /// Starts collecting from descriptors, which it closes at its end; what comes is written to
    /// `copy` too, which stays its owner's.
    init(
        from source: consuming Descriptor, and second: consuming Descriptor? = nil,
        copyingTo copy: Int32? = nil
    ) throws(TestFault) {
        let stop = try Pipe()
        let originals = [source.number, second?.number, stop.read.number].compactMap(\.self)
        let copies = originals.map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        guard copies.allSatisfy({ $0 >= 0 }), let last = copies.last else {
            throw .system(call: "dup", subject: "a collector", code: errno)
        }
        let core = Core(sources: copies.dropLast(), stop: last, copy: copy)
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
