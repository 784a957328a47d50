import TestSupport
import Testing
import Wire

/// Real polkitd on a private bus, its setuid helper, and its agent for terminals.
@Suite("polkit", .timeLimit(.minutes(5)), .notingCells)
struct PolkitTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }
    private let bus: TestSupport.Program
    private let authority: TestSupport.Program

    init() throws {
        signet = try SignetStage.debian(options: "max-tries=2 timeout=4")
        let stage = signet.stage
        try signet.addSystemAccounts("messagebus", "polkitd")
        bus = try signet.startBus()
        // Who may confirm for root: alice alone.
        try stage.write(
            "/etc/polkit-1/rules.d/10-stage.rules",
            "polkit.addAdminRule(function() { return ['unix-user:alice']; });\n")
        try signet.shell("chown -R polkitd /etc/polkit-1/rules.d")
        authority = try stage.start(["/usr/lib/polkit-1/polkitd", "--replace"])
        try signet.shell(
            """
            until dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
                org.freedesktop.DBus.NameHasOwner string:org.freedesktop.PolicyKit1 \
                | grep -q 'boolean true'; do :; done
            """)
    }

    /// pkexec with the agent that it brings along.
    private func pkexec() throws -> Terminal {
        try stage.terminal(["pkexec", "id", "-un"], as: Stage.alice)
    }

    @Test("a touch lets pkexec in")
    func finger() throws {
        shows(.pkexec, .finger, .restored)
        let terminal = try pkexec()
        try terminal.expect("AUTHENTICATING FOR org.freedesktop.policykit.exec")
        try terminal.expect("\(SignetStage.invitation) (alice)")
        try signet.touch(Touch.alice)
        try terminal.expect("AUTHENTICATION COMPLETE")
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        let mode = try terminal.mode()
        #expect(mode.echoes && mode.isCanonical && mode.makesSignals)
    }
}
