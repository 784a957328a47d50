import Glibc
import TestSupport
import Testing
import Wire

/// Real i3lock on a real X server without a screen, with the stack of pam/examples.
@Suite("i3lock", .timeLimit(.minutes(5)), .notingCells)
struct LockerProgramTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }
    private let server: TestSupport.Program
    private let locker: TestSupport.Program
    private let display: String

    /// Alice's screen, locked.
    init() throws {
        signet = try SignetStage.debian()
        let stage = signet.stage
        let example = "\(Layout.package)/pam/examples/i3lock"
        try stage.install(example, at: "/etc/pam.d/i3lock", mode: 0o644)
        try signet.shell("sed -i 's/timeout=10/timeout=3 max-tries=2/' /etc/pam.d/i3lock")
        try signet.shell("install -d -m 1777 /tmp/.X11-unix")
        // No abstract socket: that one would be the machine's.
        server = try stage.start(
            ["Xvfb", "-displayfd", "1", "-nolisten", "tcp", "-nolisten", "local", "-ac"])
        try server.expect("\n", within: .seconds(20))
        display = ":" + server.output.filter(\.isNumber)
        locker = try stage.start(
            ["i3lock", "--nofork"], as: Stage.alice, environment: ["DISPLAY": display])
        // It takes the keyboard when its window is there.
        try stage.run(
            ["xdotool", "search", "--sync", "--onlyvisible", "--name", "i3lock"],
            as: Stage.alice, environment: ["DISPLAY": display])
    }

    /// Presses keys as a person does, by the names that X has for them.
    private func press(_ keys: String...) throws {
        try stage.run(
            ["xdotool", "key", "--delay", "0"] + keys, as: Stage.alice,
            environment: ["DISPLAY": display])
    }

    private func type(_ password: String) throws {
        try stage.run(
            ["xdotool", "type", "--delay", "0", password], as: Stage.alice,
            environment: ["DISPLAY": display])
        try press("Return")
    }

    private func expectUnlocked() throws {
        #expect(try locker.expectEnd().ending == .exited(0))
    }

    @Test("Return, and a touch unlocks")
    func finger() throws {
        shows(.i3lock, .finger)
        try press("Return")
        try signet.touch(Touch.alice)
        try expectUnlocked()
        let decision = try stage.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_PEER_UID"] == "4242")
        #expect(decision["SIGNET_SERVICE"] == "i3lock")
    }
}
