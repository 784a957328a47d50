import Glibc
import Loop
import Posix
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Daemon

@Suite("tokens that lie in files", .serialized, .timeLimit(.minutes(1)))
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
                try directory.setModified(name, seconds)
            }, later: plan.later)
        try files.keep([0x61], of: 7, forSeconds: 300, at: 1_000)
        #expect(names == ["7"])
        isBroken = true
        #expect(throws: FileFault.self) {
            try files.keep([0x62], of: 7, forSeconds: 300, at: 1_000)
        }
        #expect(names == [] && plan.all.count == 1 && plan.prevented == 1)
    }

    @Test("go before their end where they are good for nothing any more; what is not there is gone")
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

@Suite("the time that servers have signed")
struct ServerTimeTests {
    @Test("goes on with the machine, whatever its clock says, and never back")
    func time() {
        let moment = Counter()
        let clock = Clock(
            boot: { () throws(SystemFault) -> String in "" },
            sinceBoot: { .seconds(moment.value.load(ordering: .relaxed)) }, wallSeconds: { 0 })
        var time = ServerTime()
        #expect(time.now(clock) == 0)
        time.heard(1_000, clock)
        moment.value.store(60, ordering: .relaxed)
        #expect(time.now(clock) == 1_060)
        time.heard(1_010, clock)
        #expect(time.now(clock) == 1_060)
        time.heard(2_000, clock)
        #expect(time.now(clock) == 2_000)
    }
}

private final class Counter: Sendable {
    let value = Atomic<Int64>(0)
}
