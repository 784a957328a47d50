// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// Debian's polkitd on a fixture, the desktop interface, and programs with an agent for terminals.
extension SignetFixture {
    /// Starts the bus and polkitd, for which alice confirms as the administrator; returns what runs.
    func startPolkit() throws -> [TestSupport.Program] {
        try addSystemAccounts("messagebus", "polkitd")
        let bus: TestSupport.Program = try startBus()
        // Who may confirm for root: alice alone.
        try host.write(
            "/etc/polkit-1/rules.d/10-host.rules",
            "polkit.addAdminRule(function() { return ['unix-user:alice']; });\n")
        try shell("chown -R polkitd /etc/polkit-1/rules.d")
        let authority = try host.start(["/usr/lib/polkit-1/polkitd", "--replace"])
        try awaitBusName("org.freedesktop.PolicyKit1")
        return [bus, authority]
    }

    /// Starts the bus, polkitd with the actions of the desktop interface, and `signet-fprint`;
    /// returns what runs.
    func startInterface() throws -> [TestSupport.Program] {
        try host.install(
            "\(Layout.package)/packaging/desktop/net.reactivated.fprint.device.policy",
            at: "/run/fprint.policy", mode: 0o644)
        try shell(
            """
            cp -a /usr/share/polkit-1/actions /run/actions
            mv /run/fprint.policy /run/actions/net.reactivated.fprint.device.policy
            mount --bind /run/actions /usr/share/polkit-1/actions
            for command in enroll delete; do
                printf '#!/bin/sh\\nexec %s %s "$@"\\n' '\(try Built.program("fprintd-client"))' \
                    $command >/usr/local/bin/fprintd-$command
                chmod 755 /usr/local/bin/fprintd-$command
            done
            """)
        let running = try startPolkit()
        try addSystemAccounts("signet-fprint")
        let uid = try shell("id -u signet-fprint").split(separator: "\n").first
        let user = Account(
            name: "signet-fprint", uid: try #require(uid.flatMap { UInt32($0) }), password: "")
        // Programs begin at home here.
        try shell("mkdir -p \(user.home)")
        let interface = try host.start(
            [
                try Built.program("testfixture"), "desktop", Self.socket,
                "/run/dbus/system_bus_socket", "-", "/run/passed",
            ], as: user, in: .unit("signet-fprint.service"))
        try awaitBusName("net.reactivated.Fprint")
        return running + [interface]
    }

    /// Waits until a name on the bus has an owner.
    func awaitBusName(_ name: String) throws {
        try shell(
            """
            until dbus-send --system --print-reply --dest=org.freedesktop.DBus / \
                org.freedesktop.DBus.NameHasOwner string:\(name) \
                | grep -q 'boolean true'; do :; done
            """)
    }

    /// Runs a shell's line with pkttyagent beside it, as systemctl starts one, which asks for that
    /// shell.
    func terminalWithAgent(
        _ line: String, as account: Account = HostFixture.alice, in place: FixturePlace? = nil
    ) throws -> Terminal {
        let start = """
            mkfifo ready.$$; pkttyagent --process $$ --notify-fd 3 3>ready.$$ &
            cat ready.$$; \(line)
            """
        return try host.terminal(["sh", "-c", start], as: account, in: place)
    }

    /// pkexec with an agent beside it.
    ///
    /// The agent that pkexec brings along is refused by polkitd 122 whatever PAM says: it is root's,
    /// and the answer comes for alice. What is confirmed is confirmed for the shell.
    func pkexec(in place: FixturePlace? = nil, then end: String = "exit $?") throws -> Terminal {
        try terminalWithAgent("pkexec --disable-internal-agent id -un; \(end)", in: place)
    }
}

extension Terminal {
    /// Types at the agent's prompt, which shows and discards what comes before it is hidden.
    func typeAtAgent(_ password: String) throws {
        try expect("Password: ")
        let deadline = ContinuousClock.now + .seconds(10)
        // Nothing reports a terminal's settings.
        while try mode().echoes && ContinuousClock.now < deadline { usleep(1_000) }
        try sendLine(password)
    }
}
