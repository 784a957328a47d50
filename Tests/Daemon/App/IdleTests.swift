// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("idleness") struct IdleTests {
        @Test(
            "started by systemd's socket, the daemon ends when no request is open, and not before")
        func idleExit() throws {
            let fixture = try DaemonFixture(configuration: "[daemon]\nidle-exit = 1s\n")
            let activated = try fixture.activated()
            do {
                let client = try fixture.client()
                #expect(try client.ask(.status(account: Person.bin.account)).status != nil)
                // As long as a client is there it stays: this outlasts the idle time.
                var waiting = pollfd(fd: -1, events: 0, revents: 0)
                _ = unsafe poll(&waiting, 1, 1_200)
                #expect(activated.ended == nil)
                #expect(try client.ask(.readers).done != nil)
            }
            #expect(try activated.expectEnd().ending == .exited(0))
            #expect(unsafe access(fixture.socket, F_OK) == 0, "the socket is systemd's")
        }

        /// The signs of life that fall into a second.
        private static let signs = 2

        @Test(
            "nothing but the readers' sign of life wakes it while a finger is awaited",
            arguments: [false, true])
        func wakeUps(hasBus: Bool) throws {
            let fixture = try DaemonFixture([.text])
            let machine = hasBus ? try MachineFixture(fixture) : nil
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client()
            try client.send(.login(.daemon))
            try client.wait(for: .touch)
            // Until the daemon rests, and then for a second.
            try machine?.bus.awaitInhibitors(1)
            var (before, after) = (0, Int.max)
            for _ in 0..<20 where after > before + Self.signs {
                before = fixture.switches
                var nothing = pollfd(fd: -1, events: 0, revents: 0)
                _ = unsafe poll(&nothing, 1, 1_000)
                after = fixture.switches
            }
            #expect(after <= before + Self.signs, "a second with no other wake-up")
            try fixture.text.send(.scan("one"))
            #expect(try client.last().assertion != nil)
        }
    }
}

extension DaemonFixture {
    /// How often the daemon's threads went to sleep until now.
    fileprivate var switches: Int {
        Layout.entries(of: "/proc/\(program.pid)/task").reduce(0) { sum, thread in
            let path = "/proc/\(program.pid)/task/\(thread)/status"
            let status = (try? String(decoding: Layout.read(path), as: UTF8.self)) ?? ""
            let line = status.split(separator: "\n")
                .first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
        }
    }
}
