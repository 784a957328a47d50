// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import MainContext
import Posix
import TestSupport
import Testing

@testable import Daemon

@Suite("tokens that lie in files", .serialized, .timeLimit(.minutes(5)))
struct TokenFileTests {
    private let scratch: Scratch
    private var path: String { scratch.at("tokens") }

    init() throws {
        MainLoop.runInBackground()
        scratch = try Scratch()
    }

    /// What is to be done later, and when.
    @ServiceActor
    private final class Plan {
        var all: [(after: Duration, action: @ServiceActor () -> Void)] = []
        var prevented = 0

        lazy var later: TokenFiles.Later = { [unowned self] delay, action in
            all.append((delay, action))
            return { self.prevented += 1 }
        }
    }

    private var names: [String] { Layout.entries(of: path) }

    @Test("end with their token while the daemon runs")
    @ServiceActor
    func ended() throws {
        let plan = Plan()
        let files = TokenFiles(path, later: plan.later)
        try files.keep([0x61], of: 7, forSeconds: 300, at: 1_000)
        try files.keep([0x62], of: 8, forSeconds: 60, at: 1_000)
        #expect(names == ["7", "8"] && plan.all.map(\.after) == [.seconds(300), .seconds(60)])
        plan.all[1].action()
        #expect(names == ["7"])
        // A new one has a new end, and the old one's does nothing to it.
        try files.keep([0x63], of: 7, forSeconds: 300, at: 1_100)
        #expect(plan.prevented == 1)
        plan.all[2].action()
        #expect(names == [])
    }

    @Test("expire by a clock that advances while the machine sleeps")
    @ServiceActor
    func asleep() async throws {
        let files = TokenFiles(path)
        let before = Self.bootTimers
        try files.keep([0x61], of: 7, forSeconds: 3_600, at: 1_000)
        #expect(Self.bootTimers == before + 1)
        // Another one in its place has its own.
        try files.keep([0x62], of: 7, forSeconds: 1, at: 1_000)
        #expect(Self.bootTimers == before + 1)
        try await Timer.sleep(for: .milliseconds(1_200))
        #expect(names == [] && Self.bootTimers == before)
    }

    /// How many descriptors of this process measure time by CLOCK_BOOTTIME, timerfd_create(2).
    private static var bootTimers: Int {
        Layout.entries(of: "/proc/self/fdinfo").count { number in
            let text = (try? Layout.read("/proc/self/fdinfo/\(number)")) ?? []
            return String(decoding: text, as: UTF8.self).contains("clockid: \(CLOCK_BOOTTIME)\n")
        }
    }

    @Test("are none where their end cannot be written down")
    @ServiceActor
    func unmarked() throws {
        let plan = Plan()
        let fault = FileFault.system(SystemFault("utimensat", on: "7", code: EPERM))
        var isBroken = false
        let files = TokenFiles(
            path,
            mark: { (directory, name, seconds) throws(FileFault) in
                if isBroken { throw fault }
                try directory.setModified(name, seconds: seconds)
            }, later: plan.later)
        try files.keep([0x61], of: 7, forSeconds: 300, at: 1_000)
        #expect(names == ["7"])
        isBroken = true
        #expect(throws: FileFault.self) {
            try files.keep([0x62], of: 7, forSeconds: 300, at: 1_000)
        }
        #expect(names == [] && plan.all.count == 1 && plan.prevented == 1)
    }

    @Test("stay if the end of another server's was meant; after a start their owner is unknown")
    @ServiceActor
    func ofServers() throws {
        let (one, two) = (ServerURL("https://one"), ServerURL("https://two"))
        let plan = Plan()
        let files = TokenFiles(path, later: plan.later)
        try files.keep([0x61], of: 7, from: one, forSeconds: 300, at: 1_000)
        try files.remove(of: 7, from: two)
        #expect(names == ["7"])
        try files.remove(of: 7, from: one)
        #expect(names == [])
        // In the place of another one's.
        try files.keep([0x61], of: 7, from: one, forSeconds: 300, at: 1_000)
        try files.keep([0x62], of: 7, from: two, forSeconds: 300, at: 1_000)
        try files.remove(of: 7, from: one)
        #expect(names == ["7"])
        try files.remove(of: 7)
        #expect(names == [])
        try files.keep([0x61], of: 7, from: one, forSeconds: 300, at: 1_000)
        try TokenFiles(path, later: plan.later).remove(of: 7, from: two)
        #expect(names == [] && plan.all.count == 4)
    }

    @Test("are deleted early if they are useless; deleting a missing one is no fault")
    @ServiceActor
    func removed() throws {
        let plan = Plan()
        let files = TokenFiles(path, later: plan.later)
        try files.remove(of: 7)
        try files.keep([0x61], of: 7, forSeconds: 300, at: 1_000)
        try files.remove(of: 8)
        #expect(names == ["7"])
        try files.remove(of: 7)
        #expect(names == [] && plan.prevented == 1)
        try files.remove(of: 7)
    }
}
