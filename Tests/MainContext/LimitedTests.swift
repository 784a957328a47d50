// SPDX-License-Identifier: Apache-2.0
import MainContext
import Testing

@Suite("a limited step", .serialized, .timeLimit(.minutes(5)))
struct LimitedTests {
    init() { MainLoop.runInBackground() }

    @Test("that ends in time returns its value")
    @ServiceActor
    func inTime() async {
        let (value, expired) = await limited(to: .seconds(60)) { 7 }
        #expect(value == 7 && !expired)
    }

    @Test("is cancelled when time is up, and waited for")
    @ServiceActor
    func expires() async {
        let (value, expired) = await limited(to: .milliseconds(5)) { () -> Bool in
            do { try await Timer.sleep(for: .seconds(3_600)) } catch { return true }
            return false
        }
        #expect(value && expired)
    }

    @Test("is cancelled with its caller, and that does not count as expiry")
    @ServiceActor
    func cancelled() async {
        let task = Task { @ServiceActor in
            await limited(to: .seconds(3_600)) { () -> Bool in
                do { try await Timer.sleep(for: .seconds(3_600)) } catch { return true }
                return false
            }
        }
        try? await Timer.sleep(for: .zero)
        task.cancel()
        let (value, expired) = await task.value
        #expect(value && !expired)
    }
}
