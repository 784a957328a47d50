// SPDX-License-Identifier: Apache-2.0
import FingerprintReader
import Glibc
import MainContext
import ReaderProtocol
import TestSupport
import Testing

extension ReaderTests {
    @Suite("idleness")
    struct IdleTests {
        @Test("while a finger is awaited, neither of the two threads wakes up")
        func asleep() async throws {
            try await ReaderFixture.withReaders { readers in
                let template = try await ReaderFixture.enrol(as: "one", with: readers)
                let log = EventLog()
                let match = Task {
                    try await readers.match(among: [template], observer: log.observer)
                }
                await log.wait(for: .fingerNeeded)
                // One round trip more, so that all that led here is over.
                try await ReaderFixture.storage.act(.finger(true))
                await log.wait(for: .fingerPresent)
                // Other suites use the same threads; only a wake-up of our own would never end.
                var turns = try await Threads.waking(for: .milliseconds(300))
                for _ in 0..<200 where turns.values.contains(where: { $0 > 0 }) {
                    turns = try await Threads.waking(for: .milliseconds(300))
                }
                #expect(turns.keys.sorted() == ["reader", "service"])
                #expect(turns.values.allSatisfy { $0 == 0 })
                match.cancel()
                _ = await match.result
            }
        }
    }
}

/// The threads of this process, as the kernel counts their turns.
private enum Threads {
    /// How often each of the loops' threads woke up in the course of `window`.
    @concurrent
    static func waking(for window: Duration) async throws -> [String: Int] {
        // What was under way when the window was opened comes to rest first.
        var before = try settled()
        usleep(UInt32(window / .microseconds(1)))
        for (name, turns) in try turns(of: loops) {
            before[name, default: 0] = turns - before[name, default: 0]
        }
        return before
    }

    /// The counts when they have stood still for a moment.
    private static func settled() throws -> [String: Int] {
        var last = try turns(of: loops)
        while true {
            usleep(20_000)
            let now = try turns(of: loops)
            if now == last { return now }
            last = now
        }
    }

    private static let loops: Set<String> = ["reader", "service"]

    /// How often the threads of these names have woken up.
    static func turns(of names: Set<String>) throws -> [String: Int] {
        var turns: [String: Int] = [:]
        for task in Layout.entries(of: "/proc/self/task") {
            guard let bytes = try? Layout.read("/proc/self/task/\(task)/status") else { continue }
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
                .map { String(decoding: $0, as: UTF8.self).split { $0 == ":" || $0 == "\t" } }
            guard let name = lines.first(where: { $0.first == "Name" })?.last,
                names.contains(String(name)),
                let count = lines.first(where: { $0.first == "voluntary_ctxt_switches" })?.last
            else { continue }
            turns[String(name)] = Int(count) ?? 0
        }
        return turns
    }
}
