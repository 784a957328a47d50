// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

@Suite("a request that no user in front of a terminal may have made", .timeLimit(.minutes(5)))
struct BackgroundTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    /// Runs sudo without any terminal.
    private func sudo(in place: FixturePlace? = nil) throws -> Program {
        try host.start(["sh", "-c", "exec sudo -k id -un 2>&1"], as: HostFixture.alice, in: place)
    }

    @Test("of sudo in a session at a seat, but without any terminal, waits for no touch")
    func seat() throws {
        let outcome = try sudo().expectEnd()
        #expect(!outcome.succeeded && !outcome.output.contains(SignetFixture.invitation))
        #expect(outcome.output.contains("because the request cannot be shown: use the password"))
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("of a program in a terminal's background, whose streams are files, waits for no touch")
    func streamsElsewhere() throws {
        let line = "su alice -c true </dev/null >/run/su.log 2>&1 & wait $!; echo over."
        let terminal = try host.terminal(["bash", "-c", "set -m; " + line], as: HostFixture.bob)
        try terminal.expect("over.")
        try terminal.expectEnd()
        #expect(!host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" })
    }

    @Test("that is put there while a finger is awaited does not get the touch")
    func sentAway() throws {
        try signet.writeServices(options: "prompt=finger")
        let terminal = try host.terminal(["bash", "--norc", "-i"], as: HostFixture.alice)
        try terminal.expect("$ ")
        try terminal.sendLine("sudo id -un")
        try terminal.expect(SignetFixture.invitation)
        try terminal.send("\u{1A}")
        try terminal.expect("Stopped")
        try terminal.sendLine("bg")
        try terminal.expect("sudo id -un &")
        try signet.touch(Touch.alice)
        try host.journal.expect("the signature") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
        // It asks for the password, and stops for that.
        try terminal.sendLine("wait; jobs")
        try terminal.expect("Stopped")
        #expect(!terminal.transcript.contains("root"))
        try terminal.sendLine("kill -9 %1; exit")
    }

    /// Runs a program that shows its messages itself, without any terminal.
    private func locker(in place: FixturePlace? = nil) throws -> Program {
        try host.start(
            ["pamtester", "xlock", "alice", "authenticate"], as: HostFixture.alice, in: place)
    }

    @Test("of another program at a seat is asked for a touch: it may have windows")
    func windows() throws {
        let program = try locker()
        // What it shows comes with its end: it writes to no terminal.
        signet.touchBlindly(Touch.alice) { program.ended != nil }
        let output = try program.expectEnd().output
        #expect(output.contains("\(SignetFixture.invitation) for xlock (alice)"))
        let decision = try host.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate" && $0["SIGNET_DECISION"] == "allow"
        }
        #expect(decision["SIGNET_PRESENCE"] == "noTerminal")
        #expect(decision["SIGNET_TERMINAL"] == "")
    }

    @Test("of a program at no seat waits for no touch")
    func noSeat() throws {
        try host.changeSession(of: HostFixture.alice, ["SEAT": ""])
        try expectPassword(try locker())
    }

    @Test(
        "of a program outside of sessions waits for no touch",
        arguments: [FixturePlace.unit("cron.service"), .nothing])
    func nowhere(_ place: FixturePlace) throws {
        try expectPassword(try locker(in: place))
    }

    private func expectPassword(_ program: Program) throws {
        let outcome = try program.expectEnd()
        #expect(!outcome.succeeded)
        #expect(!outcome.output.contains(SignetFixture.invitation))
        try signet.expectDenial("notAtMachine")
    }
}
