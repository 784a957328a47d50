import TestSupport
import Testing
import Wire

@Suite("sudo", .timeLimit(.minutes(5)))
struct SudoTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }

    init() throws {
        signet = try SignetStage()
        try signet.enroll(Stage.alice, as: "alice's")
    }

    private func sudo(_ arguments: String...) throws -> Terminal {
        try stage.terminal(["sudo"] + arguments, as: Stage.alice)
    }

    @Test("lets alice in by a touch, and says what the touch confirms")
    func touch() throws {
        let terminal = try sudo("id", "-un")
        let name = terminal.path.dropFirst("/dev/".count)
        try terminal.expect("\(SignetStage.invitation) to confirm: sudo id -un (alice, \(name))")
        try terminal.expect(SignetStage.orPassword)
        try signet.touch("alice's")
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))

        let decision = try stage.journal.expect("the decision") {
            $0["SIGNET_VERB"] == "authenticate"
        }
        #expect(decision["SIGNET_DECISION"] == "allow")
        #expect(decision["SIGNET_ACCOUNT"] == "alice")
        #expect(decision["SIGNET_SERVICE"] == "sudo")
        #expect(decision["SIGNET_TERMINAL"] == terminal.path)
        #expect(decision["SIGNET_PURPOSE"] == "sudo id -un")
        #expect(decision["SIGNET_PEER_UID"] == "0")
        #expect(decision["SYSLOG_IDENTIFIER"] == "signetd")
        #expect(decision.uid == 0)
    }
}
