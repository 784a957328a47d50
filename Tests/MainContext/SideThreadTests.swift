// SPDX-License-Identifier: Apache-2.0
import Glibc
import MainContext
import Posix
import Synchronization
import Testing

@Suite("the thread beside")
struct SideThreadTests {
    init() { MainLoop.runInBackground() }

    @Test("runs calls off the service's thread, in their order")
    func order() async {
        let seen = Mutex<[Int]>([])
        let results = await onServiceThread { () async -> [Int?] in
            let thread = SideThread()
            thread.later { seen.withLock { $0.append(0) } }
            var results: [Int?] = []
            for number in 1...3 {
                results.append(
                    await thread.run(limit: .seconds(20)) {
                        seen.withLock { $0.append(number) }
                        return ContextExecutor.current == nil ? number : -1
                    })
            }
            return results
        }
        #expect(results == [1, 2, 3])
        #expect(seen.withLock { $0 } == [0, 1, 2, 3])
    }

    @Test("what takes too long is given up, keeps others from waiting behind it, and is forgotten")
    func overdue() async {
        let gate = Gate()
        let results = await onServiceThread { () async -> [Int?] in
            let thread = SideThread()
            let late = await thread.run(limit: .milliseconds(20)) {
                gate.wait()
                return 1
            }
            let behind = await thread.run(limit: .seconds(20)) { 2 }
            gate.open()
            // The first has come back when what was queued behind it runs.
            await withCheckedContinuation { continuation in
                thread.later { onService { continuation.resume() } }
            }
            return [late, behind, await thread.run(limit: .seconds(20)) { 3 }]
        }
        #expect(results == [nil, nil, 3])
    }

    @Test("what gets on step by step may take as long as it needs, and is given up when it stops")
    func steps() async {
        let steps = Steps()
        let gate = Gate()
        let results = await onServiceThread { () async -> [Int?] in
            let thread = SideThread { steps.last }
            let limit = Duration.seconds(2)
            // Behind another one, and longer than the limit in all.
            async let first = thread.run(limit: limit) {
                steps.walk(3)
                return 1
            }
            let second = await thread.run(limit: limit) {
                steps.walk(3)
                return 2
            }
            let third = await thread.run(limit: limit) {
                steps.walk(2)
                gate.wait()
                return 3
            }
            gate.open()
            return [await first, second, third]
        }
        #expect(results == [1, 2, nil])
    }

    @Test("time for which the thread runs, or wants to, is no waiting, but has an end as well")
    func busy() async {
        @Sendable func spin(for time: Duration) {
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end {}
        }
        let results = await onServiceThread { () async -> [Int?] in
            let thread = SideThread()
            let worked = await thread.run(limit: .milliseconds(500)) {
                spin(for: .seconds(2))
                return 1
            }
            let endless = await thread.run(limit: .milliseconds(100)) {
                spin(for: .seconds(20))
                return 2
            }
            return [worked, endless]
        }
        #expect(results == [1, nil])
    }

    @Test("what comes too late is dropped on the thread: that may take as long as the call")
    func dropped() async {
        let gate = Gate()
        let dropped = Mutex<[Bool]>([])
        await onServiceThread { () async in
            let thread = SideThread()
            let late = await thread.run(limit: .milliseconds(20)) {
                gate.wait()
                return Witness { dropped.withLock { $0.append(ContextExecutor.current == nil) } }
            }
            #expect(late == nil)
            gate.open()
            // Behind the call, its way to the service, and the way back.
            for _ in 0..<2 {
                await withCheckedContinuation { continuation in
                    thread.later { onService { continuation.resume() } }
                }
            }
        }
        #expect(dropped.withLock { $0 } == [true])
    }
}

/// Steps of 0.8 seconds.
private final class Steps: Sendable {
    private let made = Mutex<SuspendingClock.Instant?>(nil)

    var last: SuspendingClock.Instant? { made.withLock { $0 } }

    func walk(_ count: Int) {
        for _ in 0..<count {
            usleep(800_000)
            made.withLock { $0 = .now }
        }
    }
}

/// Tells when it is released.
private final class Witness: Sendable {
    private let released: @Sendable () -> Void

    init(_ released: @escaping @Sendable () -> Void) {
        self.released = released
    }

    deinit { released() }
}

/// Holds a thread up until it is opened; pipe(2).
private final class Gate: Sendable {
    private let ends: (read: Int32, write: Int32)

    init() {
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        self.ends = (ends[0], ends[1])
    }

    func open() { close(ends.write) }

    func wait() {
        var byte: UInt8 = 0
        _ = unsafe read(ends.read, &byte, 1)
        close(ends.read)
    }
}

/// Runs a body on the service's thread, and waits for it.
private func onServiceThread<Value: Sendable>(
    _ body: @escaping @Sendable @ServiceActor () async -> Value
) async -> Value {
    await onService(body).value
}
