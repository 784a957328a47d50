// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import MainContext

/// Starts the two threads once for this test process.
private func loop() {
    MainLoop.runInBackground()
}

/// Names the thread; `pthread_self` will not do, as the optimiser keeps its value across waits.
private func threadLink() -> [CChar] {
    var link = [CChar](repeating: 0, count: 64)
    _ = unsafe readlink("/proc/thread-self", &link, link.count - 1)
    return link
}

/// A pair of connected descriptors that close themselves.
private final class Pipe: Sendable {
    let reading: Int32
    let writing: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        try #require(unsafe socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0)
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        close(writing)
    }

    func send() {
        var byte: UInt8 = 1
        unsafe write(writing, &byte, 1)
    }

    func drain() -> Int {
        var bytes = [UInt8](repeating: 0, count: 64)
        return unsafe read(reading, &bytes, bytes.count)
    }
}

@Suite("main contexts as executors", .serialized, .timeLimit(.minutes(5)))
struct ExecutorTests {
    init() { loop() }

    @ReaderActor private func readerThread() -> [CChar] { threadLink() }
    @ServiceActor private func serviceThread() -> [CChar] { threadLink() }

    // On one of the two threads, and not on the pool's, which other tests may hold up.
    @Test("each actor keeps to one thread, and they differ")
    @ServiceActor
    func threads() async {
        let reader = await readerThread()
        let service = serviceThread()
        #expect(reader != service)
        for _ in 0..<100 {
            #expect(await readerThread() == reader)
            #expect(serviceThread() == service)
        }
    }

    @Test("jobs run in the order they were queued")
    func order() async {
        let total = 1000
        let seen = await withCheckedContinuation { continuation in
            Task { @ServiceActor in
                var seen: [Int] = []
                for number in 0..<total {
                    Task { @ServiceActor in
                        seen.append(number)
                        if number == total - 1 { continuation.resume(returning: seen) }
                    }
                }
            }
        }
        #expect(seen == Array(0..<total))
    }

    @Test("the check of isolation distinguishes the actors")
    func isolation() async {
        #expect(ContextExecutor.current == nil)
        await Task { @ReaderActor in
            #expect(ContextExecutor.current === ContextExecutor.reader)
            #expect(ContextExecutor.service.isIsolatingCurrentContext() == false)
            ReaderActor.shared.preconditionIsolated()
        }.value
        await Task { @ServiceActor in
            #expect(ContextExecutor.current === ContextExecutor.service)
            #expect(ContextExecutor.reader.isIsolatingCurrentContext() == false)
            #expect(ServiceActor.assumeIsolated { 7 } == 7)
        }.value
    }

    @Test("a reader that is busy does not hold up the service")
    func independent() async {
        let gate = Pipe.Gate()
        let busy = Task { @ReaderActor in gate.wait() }
        #expect(await serviceThread().first != 0)
        gate.open()
        await busy.value
    }

    @Test("many tasks hopping between the actors all arrive")
    func hops() async {
        let tasks = (0..<200).map { number in
            Task { @ServiceActor in
                for _ in 0..<20 { _ = await readerThread() }
                return number
            }
        }
        var sum = 0
        for task in tasks { sum += await task.value }
        #expect(sum == 199 * 100)
    }
}

extension Pipe {
    /// Holds a thread until it is opened.
    final class Gate: Sendable {
        private let ends: Pipe?

        init() { ends = try? Pipe() }

        func wait() {
            guard let ends else { return }
            var poll = pollfd(fd: ends.reading, events: Int16(POLLIN), revents: 0)
            unsafe Glibc.poll(&poll, 1, -1)
        }

        func open() { ends?.send() }
    }
}

@Suite("timers", .serialized, .timeLimit(.minutes(5)))
struct TimerTests {
    init() { loop() }

    @Test("a timer fires on its actor, not before it is due")
    @ServiceActor
    func fires() async {
        let clock = ContinuousClock()
        let start = clock.now
        var timer: Timer?
        await withCheckedContinuation { continuation in
            timer = Timer(after: .milliseconds(20)) {
                #expect(ContextExecutor.current === ContextExecutor.service)
                continuation.resume()
            }
        }
        #expect(timer != nil)
        #expect(clock.now - start >= .milliseconds(20))
    }

    @Test("a timer on the reader's actor fires there")
    @ReaderActor
    func firesOnReader() async {
        var timer: Timer?
        await withCheckedContinuation { continuation in
            timer = Timer(onReaderAfter: .milliseconds(1)) {
                #expect(ContextExecutor.current === ContextExecutor.reader)
                continuation.resume()
            }
        }
        #expect(timer != nil)
    }

    @Test("a timer that was cancelled or released never fires")
    @ServiceActor
    func cancelled() async throws {
        var fired = 0
        let cancelled = Timer(after: .zero) { fired += 1 }
        cancelled.cancel()
        do { _ = Timer(after: .zero) { fired += 1 } }
        try await Timer.sleep(for: .milliseconds(5))
        #expect(fired == 0)
    }

    @Test("sleep lasts as long as asked")
    @ServiceActor
    func sleeps() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        try await Timer.sleep(for: .milliseconds(15))
        #expect(clock.now - start >= .milliseconds(15))
    }

    @Test("sleep ends at once when its task is cancelled, before or during")
    func sleepCancelled() async {
        let during = Task { @ServiceActor in try await Timer.sleep(for: .seconds(3600)) }
        await Task { @ServiceActor in }.value
        during.cancel()
        await #expect(throws: CancellationError.self) { try await during.value }
        let before = Task { @ServiceActor in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await Timer.sleep(for: .seconds(3600))
        }
        await #expect(throws: CancellationError.self) { try await before.value }
    }
}

@Suite("file watches", .serialized, .timeLimit(.minutes(5)))
struct FileWatchTests {
    init() { loop() }

    @Test("a watch reports each arrival until it is cancelled")
    @ServiceActor
    func readable() async throws {
        let pipe = try Pipe()
        var arrivals = 0
        let watch = FileWatch(pipe.reading, for: .readable) { ready in
            #expect(ready == .readable)
            if pipe.drain() > 0 { arrivals += 1 }
        }
        for count in 1...3 {
            pipe.send()
            try await Timer.sleep(for: .milliseconds(2))
            #expect(arrivals == count)
        }
        watch.cancel()
        pipe.send()
        try await Timer.sleep(for: .milliseconds(2))
        #expect(arrivals == 3)
    }

    @Test("a watch can turn from reading to writing and to nothing")
    @ServiceActor
    func interest() async throws {
        let pipe = try Pipe()
        var seen: [FileWatch.Readiness] = []
        var watch: FileWatch?
        watch = FileWatch(pipe.writing, for: []) { ready in
            seen.append(ready)
            watch?.watch(for: [])
        }
        try await Timer.sleep(for: .milliseconds(2))
        #expect(seen.isEmpty)
        watch?.watch(for: .writable)
        try await Timer.sleep(for: .milliseconds(2))
        #expect(seen == [.writable])
        watch = nil
    }

    @Test("a watch of nothing still notices that the other end is gone")
    @ServiceActor
    func hangUp() async throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let (mine, theirs) = (ends[0], ends[1])
        var gone = false
        var watch: FileWatch?
        watch = FileWatch(mine, for: []) { ready in
            gone = ready.contains(.hungUp)
            watch?.cancel()
        }
        close(theirs)
        try await Timer.sleep(for: .milliseconds(2))
        #expect(gone)
        watch = nil
        close(mine)
    }

    @Test("waiting for a descriptor ends when it is ready, and empty when cancelled")
    func ready() async throws {
        let pipe = try Pipe()
        let waiting = Task { @ServiceActor in await FileWatch.ready(pipe.reading, for: .readable) }
        pipe.send()
        #expect(await waiting.value == .readable)
        _ = pipe.drain()
        let idle = Task { @ServiceActor in await FileWatch.ready(pipe.reading, for: .readable) }
        await Task { @ServiceActor in }.value
        idle.cancel()
        #expect(await idle.value == [])
    }
}

@Suite("signals", .serialized, .timeLimit(.minutes(5)))
struct SignalTests {
    init() { loop() }

    @Test("a signal arrives on the service's actor", arguments: Signals.Signal.allCases)
    @ServiceActor
    func arrives(signal: Signals.Signal) async throws {
        var held: Signals?
        let got = await withCheckedContinuation { continuation in
            held = Signals([signal]) { continuation.resume(returning: $0) }
            kill(getpid(), signal.rawValue)
        }
        #expect(got == signal)
        #expect(held != nil)
    }

    @Test("signals may be given up on any thread")
    func release() async {
        var held: Signals? = await Task { @ServiceActor in Signals([.hangUp]) { _ in } }.value
        await Task { @ReaderActor [given = held] in withExtendedLifetime(given) {} }.value
        held = nil
        #expect(held == nil)
    }
}

@Suite("GIO calls", .timeLimit(.minutes(5)))
struct GioCallTests {
    @Test("a call on a thread without a main context is not made, and this is reported")
    func elsewhere() async {
        await #expect(throws: GioFault.self) {
            unsafe try await gioAsync { _, _, _ in
                Issue.record("it was made")
            } finish: { _, _ in
            }
        }
    }
}
