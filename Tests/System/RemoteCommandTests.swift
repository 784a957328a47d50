// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

/// `signet verify` and `signet enroll` want a finger of who is at the machine, as a login does.
@Suite("a command that wants a finger", .timeLimit(.minutes(5)))
struct RemoteCommandTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }

    init() throws {
        signet = try SignetStage.inhabited()
    }

    /// Runs a command as alice to its end, with her password for whom it may concern.
    private func run(_ arguments: [String], in place: StagePlace) throws -> Outcome {
        try stage.run(
            [try Built.program("signet")] + arguments, as: Stage.alice, in: place,
            input: Stage.alice.password + "\n")
    }

    private func expectNoTouch(
        _ arguments: [String], in place: StagePlace, _ reason: String
    ) throws {
        let outcome = try run(arguments, in: place)
        #expect(!outcome.succeeded)
        #expect(!(outcome.output + outcome.errors).contains(SignetStage.invitation))
        let entry = try stage.journal.expect("the denial") {
            $0["SIGNET_REASON"] == reason && $0["SIGNET_ACCOUNT"] == "alice"
        }
        #expect(entry["SIGNET_VERB"] == arguments[0])
        #expect(entry["SIGNET_DECISION"] == "deny")
    }

    static let commands = [["verify"], ["enroll", "left-index", "--password-stdin"]]

    @Test("gets none from a remote session", arguments: commands)
    func remote(_ arguments: [String]) throws {
        try expectNoTouch(arguments, in: .remoteSession(of: Stage.alice), "remoteSession")
        #expect(try signet.status(Stage.alice).prints == 1)
    }

    @Test("gets none outside a session, or from one that is not in front", arguments: commands)
    func elsewhere(_ arguments: [String]) throws {
        try expectNoTouch(arguments, in: .unit("cron.service"), "notAtMachine")
        try stage.show(.session(of: Stage.bob))
        try expectNoTouch(arguments, in: .session(of: Stage.alice), "notAtMachine")
        try expectNoTouch(arguments, in: .manager(of: Stage.alice), "notAtMachine")
    }

    @Test("gets one from the session in front")
    func local() throws {
        let program = try stage.start([try Built.program("signet"), "verify"], as: Stage.alice)
        try program.expect(SignetStage.invitation)
        try signet.touch(Touch.alice)
        #expect(try program.expectEnd().succeeded)
    }
}
