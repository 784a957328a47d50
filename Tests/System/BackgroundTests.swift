// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("a request that nobody in front of a terminal may have made", .timeLimit(.minutes(5)))
struct BackgroundTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }

    init() throws {
        signet = try SignetStage.inhabited()
    }

    /// Runs sudo without any terminal.
    private func sudo(in place: StagePlace? = nil) throws -> Program {
        try stage.start(["sh", "-c", "exec sudo -k id -un 2>&1"], as: Stage.alice, in: place)
    }

    @Test("of a program at a seat is asked for a touch: it may have windows")
    func seat() throws {
        let program = try sudo()
        // What it shows comes with its end: it writes to no terminal.
        signet.touchBlindly(Touch.alice) { program.ended != nil }
        let output = try program.expectEnd().output
        #expect(output.contains("\(SignetStage.invitation) to confirm: sudo id -un [-k] (alice)"))
        #expect(output.contains("root\n"))
        let decision = try stage.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
        #expect(decision["SIGNET_PRESENCE"] == "noTerminal")
        #expect(decision["SIGNET_TERMINAL"] == "")
    }

    @Test("of a program in a terminal's background, whose streams are files, waits for no touch")
    func streamsElsewhere() throws {
        let line = "su alice -c true </dev/null >/run/su.log 2>&1 & wait $!; echo over."
        let terminal = try stage.terminal(["bash", "-c", "set -m; " + line], as: Stage.bob)
        try terminal.expect("over.")
        try terminal.expectEnd()
        #expect(!stage.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("that goes there while a finger is awaited does not get the touch")
    func sentAway() throws {
        try signet.writeServices(options: "prompt=finger")
        let terminal = try stage.terminal(["bash", "--norc", "-i"], as: Stage.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("sudo id -un")
        try terminal.expect(SignetStage.invitation)
        try terminal.send("\u{1A}")
        try terminal.expect("Stopped")
        try terminal.sendLine("bg")
        try terminal.expect("sudo id -un &")
        try signet.touch(Touch.alice)
        try stage.journal.expect("the signature") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
        // It asks for the password, and stops for that.
        try terminal.sendLine("wait; jobs")
        try terminal.expect("Stopped")
        #expect(!terminal.transcript.contains("root"))
        try terminal.sendLine("kill -9 %1; exit")
    }

    @Test("of a program at no seat waits for no touch")
    func noSeat() throws {
        try stage.changeSession(of: Stage.alice, ["SEAT": ""])
        try expectPassword(try sudo())
    }

    @Test(
        "of a program outside of sessions waits for no touch",
        arguments: [StagePlace.unit("cron.service"), .nothing])
    func nowhere(_ place: StagePlace) throws {
        try expectPassword(try sudo(in: place))
    }

    private func expectPassword(_ program: Program) throws {
        let outcome = try program.expectEnd()
        #expect(!outcome.succeeded)
        #expect(!outcome.output.contains("reader") && !outcome.output.contains("background"))
        try signet.expectDenial("notAtMachine")
    }
}
