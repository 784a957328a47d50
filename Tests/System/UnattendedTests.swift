// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// Programs that run PAM while no user is there to touch anything: real cron, and what systemd does
/// for a user's service manager.
@Suite("with no user present", .timeLimit(.minutes(5)), .notingCells)
struct UnattendedTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.debian()
    }

    /// Runs a line as alice from her crontab, and gives what it said.
    private func cron(_ line: String) throws -> String {
        try signet.shell("mkfifo -m 666 /run/said; install -d /var/spool/cron/crontabs")
        // Runs once, when cron starts.
        try host.write(
            "/var/spool/cron/crontabs/alice", "@reboot (\(line)) >/run/said 2>&1\n", mode: 0o600)
        try signet.shell("chown alice /var/spool/cron/crontabs/alice")
        let reader = try host.start(["cat", "/run/said"])
        let cron = try host.start(["cron", "-f"], in: .unit("cron.service"))
        let said = try reader.expectEnd().output
        cron.signal(SIGTERM)
        try cron.expectEnd()
        return said
    }

    /// Has alice's at(1) take a line for now, and atd look once for what is due; gives what the
    /// line said.
    private func at(_ line: String) throws -> String {
        // As the package's script makes them, and what it has at(1) run as.
        try signet.shell(
            """
            install -d -o daemon -g daemon -m 1770 /var/spool/cron/atjobs /var/spool/cron/atspool
            install -o daemon -g daemon -m 600 /dev/null /var/spool/cron/atjobs/.SEQ
            mkfifo -m 666 /run/said
            """)
        try host.write("/run/line", "(\(line)) >/run/said 2>&1\n")
        try host.run(["chmod", "644", "/run/line"])
        let queued = try host.run(["at", "-f", "/run/line", "now"], as: HostFixture.alice)
        #expect(queued.succeeded, "\(queued)")
        let reader = try host.start(["cat", "/run/said"])
        let atd = try host.start(["atd", "-s"], in: .unit("atd.service"))
        let said = try reader.expectEnd().output
        try atd.expectEnd()
        return said
    }

    private var isAsked: Bool {
        host.journal.entries.contains { $0["SIGNET_VERB"] == "authenticate" }
    }

    @Test(
        "cron runs alice's job without asking",
        arguments: [Compatibility.Case.unattended, .daemonDown, .daemonSilent])
    func cron(case: Compatibility.Case) throws {
        shows(.cron, `case`)
        if `case` == .daemonSilent { signet.suspend() }
        if `case` == .daemonDown { try signet.stop() }
        #expect(try cron("id -un") == "alice\n")
        #expect(!isAsked)
        signet.resume()
    }

    @Test(
        "atd runs alice's job without asking",
        arguments: [Compatibility.Case.unattended, .daemonDown, .daemonSilent])
    func at(case: Compatibility.Case) throws {
        shows(.at, `case`)
        if `case` == .daemonSilent { signet.suspend() }
        if `case` == .daemonDown { try signet.stop() }
        #expect(try at("id -un") == "alice\n")
        #expect(!isAsked)
        signet.resume()
    }

    @Test("atd's job lifts no lockout, though its stack has the module and credentials are set")
    func atLockedOut() throws {
        try signet.setFailures(20, of: HostFixture.alice)
        #expect(try at("id -un") == "alice\n")
        #expect(!isAsked)
        #expect(try signet.status(HostFixture.alice).lock != .open)
    }

    @Test("sudo in a cron job is refused at once, and waits for no touch")
    func sudoInCron() throws {
        shows(.sudoInCron, .unattended)
        let begun = ContinuousClock.now
        let said = try cron("sudo id -un; echo status $?")
        #expect(said.contains("a password is required"))
        #expect(said.hasSuffix("status 1\n"))
        #expect(!said.contains(SignetFixture.invitation))
        #expect(ContinuousClock.now - begun < .seconds(10))
        // There is no terminal to show the request on, so the daemon is not even asked.
        #expect(!isAsked)
    }

    @Test(
        "a user's service manager starts without asking",
        arguments: [Compatibility.Case.unattended, .daemonDown, .daemonSilent])
    func systemdUser(case: Compatibility.Case) throws {
        shows(.systemdUser, `case`)
        if `case` == .daemonSilent { signet.suspend() }
        if `case` == .daemonDown { try signet.stop() }
        // What systemd does for user@.service, whose PAMName= this is.
        let outcome = try host.run([
            "pamtester", "systemd-user", "alice", "acct_mgmt", "setcred(PAM_ESTABLISH_CRED)",
            "open_session", "close_session",
        ])
        #expect(outcome.succeeded, "\(outcome)")
        #expect(!isAsked)
        signet.resume()
    }

    @Test(
        "lightdm starts its greeter, or alice's session by itself, without asking",
        arguments: [Compatibility.Case.unattended, .daemonDown, .daemonSilent],
        [Compatibility.Program.greeter, .autologin])
    func lightdm(case: Compatibility.Case, program: Compatibility.Program) throws {
        shows(program, `case`)
        if `case` == .daemonSilent { signet.suspend() }
        if `case` == .daemonDown { try signet.stop() }
        let isAutomatic = program == .autologin
        let lightDM = try LightDM(on: signet, seat: isAutomatic ? "autologin-user=alice" : "")
        try lightDM.expectSaid(isAutomatic ? "session of alice" : "connected")
        #expect(!isAsked)
        signet.resume()
    }
}
