// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// `signet verify` and `signet enroll` want a finger of who is at the machine, as a login does.
@Suite("a command that needs a finger", .timeLimit(.minutes(5)))
struct RemoteCommandTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    /// Runs a command as alice to its end, with her password for whom it may concern.
    private func run(_ arguments: [String], in place: FixturePlace) throws -> Outcome {
        try host.run(
            [try Built.program("signet")] + arguments, as: HostFixture.alice, in: place,
            input: HostFixture.alice.password + "\n")
    }

    private func expectNoTouch(
        _ arguments: [String], in place: FixturePlace, _ reason: String
    ) throws {
        let outcome = try run(arguments, in: place)
        #expect(!outcome.succeeded)
        #expect(!(outcome.output + outcome.errors).contains(SignetFixture.invitation))
        let entry = try host.journal.expect("the denial") {
            $0["SIGNET_REASON"] == reason && $0["SIGNET_ACCOUNT"] == "alice"
        }
        #expect(entry["SIGNET_VERB"] == arguments[0])
        #expect(entry["SIGNET_DECISION"] == "deny")
    }

    static let commands = [["verify"], ["enroll", "left-index", "--password-stdin"]]

    @Test("gets none from a remote session", arguments: commands)
    func remote(_ arguments: [String]) throws {
        try expectNoTouch(arguments, in: .remoteSession(of: HostFixture.alice), "remoteSession")
        #expect(try signet.status(HostFixture.alice).prints == 1)
    }

    @Test("gets none outside a session, or from one that is not in front", arguments: commands)
    func elsewhere(_ arguments: [String]) throws {
        try expectNoTouch(arguments, in: .unit("cron.service"), "notAtMachine")
        try host.show(.session(of: HostFixture.bob))
        try expectNoTouch(arguments, in: .session(of: HostFixture.alice), "notAtMachine")
        try expectNoTouch(arguments, in: .manager(of: HostFixture.alice), "notAtMachine")
    }

    @Test("gets one from the session in front")
    func local() throws {
        let program = try host.start(
            [try Built.program("signet"), "verify"], as: HostFixture.alice)
        try program.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice)
        #expect(try program.expectEnd().succeeded)
    }
}
