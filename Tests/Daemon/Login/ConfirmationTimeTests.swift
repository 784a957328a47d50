// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import Testing

@testable import Daemon

@Suite("the time that a client has to confirm a touch")
struct ConfirmationTimeTests {
    /// A fifth of a second for the client, and a second in all, on a thread that only waits.
    private let time = ConfirmationTime(
        .system, limit: .milliseconds(200), longest: .seconds(1),
        idle: { Clock.system.sinceBoot() })

    private func run(for time: Duration) {
        let end = Clock.system.sinceBoot() + time
        while Clock.system.sinceBoot() < end {}
    }

    @Test("passes while the daemon waits for it")
    func waiting() throws {
        #expect(time.left > .zero)
        let timer = try BootTimer(after: .milliseconds(300))
        var waiting = pollfd(fd: timer.descriptor.number, events: Int16(POLLIN), revents: 0)
        #expect(unsafe poll(&waiting, 1, 10_000) == 1)
        #expect(time.left <= .zero)
    }

    @Test("does not pass while the daemon waits for a disk, but ends all the same")
    func writing() throws {
        let time = ConfirmationTime(
            .system, limit: .milliseconds(200), longest: .seconds(3), idle: { .zero })
        for (milliseconds, isLeft) in [(500, true), (2_600, false)] {
            let timer = try BootTimer(after: .milliseconds(milliseconds))
            var waiting = pollfd(
                fd: timer.descriptor.number, events: Int16(POLLIN), revents: 0)
            #expect(unsafe poll(&waiting, 1, 10_000) == 1)
            #expect((time.left > .zero) == isLeft)
        }
    }

    @Test("does not pass while the daemon runs, or wants to, but ends all the same")
    func running() {
        run(for: .milliseconds(500))
        #expect(time.left > .zero)
        run(for: .milliseconds(600))
        #expect(time.left <= .zero)
    }
}
