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

@Suite("a step that is not awaited when it is late", .serialized, .timeLimit(.minutes(5)))
struct UnlessLateTests {
    init() { MainLoop.runInBackground() }

    /// A step that never ends.
    @ServiceActor
    private static func endless() async -> Int {
        try? await Timer.sleep(for: .seconds(3_600))
        return 7
    }

    @Test("gives its value, or nothing when the time is up")
    @ServiceActor
    func plain() async {
        #expect(await unlessLate(.seconds(60)) { 7 } == 7)
        #expect(await unlessLate(.milliseconds(5), Self.endless) == nil)
    }

    @Test("has more time as long as it is seen to be at work, up to a limit of its own")
    @ServiceActor
    func extended() async {
        var asked = 0
        let late = await unlessLate(
            .milliseconds(5),
            extendedIf: {
                asked += 1
                return asked < 3
            }, Self.endless)
        #expect(late == nil && asked == 3)
        let slow = await unlessLate(.milliseconds(5), extendedIf: { true }) {
            try? await Timer.sleep(for: .milliseconds(50))
            return 7
        }
        #expect(slow == 7)
        let longest = Duration.milliseconds(20)
        #expect(
            await unlessLate(
                .milliseconds(5), longest: longest, extendedIf: { true }, Self.endless) == nil)
    }
}
