// SPDX-License-Identifier: Apache-2.0
import MainContext
import Testing

@Suite("work begun ahead", .serialized, .timeLimit(.minutes(5)))
struct AheadTests {
    init() { MainLoop.runInBackground() }

    @Test("has begun when the caller goes on, and delivers its result to all that wait")
    @ServiceActor
    func begun() async {
        var continuation: CheckedContinuation<Int, Never>?
        let ahead = await Ahead.begin { await withCheckedContinuation { continuation = $0 } }
        #expect(continuation != nil)
        let first = await Ahead.begin { await ahead.result() }
        let second = await Ahead.begin { await ahead.result() }
        continuation?.resume(returning: 7)
        #expect(await first.result() == 7)
        #expect(await second.result() == 7)
        #expect(await ahead.result() == 7)
    }

    @Test("is cancelled when it is told to be, and with the task that waits for it")
    @ServiceActor
    func cancelled() async {
        func wait() async -> Ahead<Bool> {
            await Ahead.begin {
                do { try await Timer.sleep(for: .seconds(3_600)) } catch { return true }
                return false
            }
        }
        let unwanted = await wait()
        unwanted.cancel()
        #expect(await unwanted.result())
        let wanted = await wait()
        let waiter = onService { await wanted.result() }
        waiter.cancel()
        #expect(await wanted.result())
        // Of no effect on what has ended.
        wanted.cancel()
        #expect(await wanted.result())
    }
}
