// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("notices on the desktop", .timeLimit(.minutes(5)))
struct NotifyTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private let bus: Program
    private let screen: Program
    /// Hears all that goes over alice's bus.
    private let monitor: Program

    private static let address = "unix:path=/run/alice/bus"
    private static let environment = ["DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":7"]

    /// A desktop of alice's: an X server, a session bus, and dunst, which the bus starts.
    init() throws {
        // A reader that keeps no prints itself, since the daemon is started anew here.
        signet = try SignetFixture(readers: [.text], programs: Built.programs())
        for (account, id) in [(HostFixture.alice, Touch.alice), (HostFixture.bob, Touch.bob)] {
            try signet.enroll(account, as: id, on: .text)
        }
        let host = signet.host
        try signet.shell(
            """
            install -d -m 700 -o alice /run/alice && install -d -m 1777 /tmp/.X11-unix
            install -D -m 755 \(try Built.program("signet")) /usr/local/bin/signet
            install -D -m 755 \(try Built.program("signet-notify")) \
                /usr/local/libexec/signet/signet-notify
            """)
        screen = try host.start(
            ["Xvfb", ":7", "-displayfd", "1", "-nolisten", "tcp", "-nolisten", "local"],
            as: HostFixture.alice)
        try screen.expect("7\n")
        bus = try host.start(
            [
                "dbus-daemon", "--session", "--nofork", "--print-address=1",
                "--address=\(Self.address)",
            ], as: HostFixture.alice, environment: Self.environment)
        try bus.expect("unix:path")
        monitor = try host.start(
            ["dbus-monitor", "--session"], as: HostFixture.alice, environment: Self.environment)
        try monitor.expect("member=NameLost")
    }

    private func notifier() throws -> Program {
        try host.start(
            ["/usr/local/bin/signet", "notify"], as: HostFixture.alice,
            environment: Self.environment)
    }

    /// Something without a terminal that asks for a finger.
    private func asking(_ account: Account = HostFixture.alice) throws -> Program {
        try host.start(["pamtester", "xlock", account.name, "authenticate"], as: account)
    }

    @Test("name the requester if no terminal does, and disappear when the touch is over")
    func touch() throws {
        let notifier = try notifier()
        let asking = try asking()
        try monitor.expect(
            "string \"xlock asks for a fingerprint of alice\"", within: .seconds(20))
        try monitor.expect("byte 2")
        try signet.touch(Touch.alice, on: .text)
        try asking.expect("successfully authenticated")
        // 3: closed by the program that showed it.
        try monitor.expect("member=NotificationClosed")
        try monitor.expect("uint32 3")
        #expect(monitor.output.ranges(of: "member=Notify\n").count == 1)
        notifier.signal(SIGTERM)
        #expect(try notifier.expectEnd().ending == .exited(0))
    }

    @Test("reappear after a restart of the daemon, and disappear if it is killed in between")
    func restart() throws {
        let notifier = try notifier()
        let first = try asking()
        try monitor.expect("member=Notify\n")
        try signet.kill()
        try monitor.expect("member=NotificationClosed")
        try first.expectEnd()
        try signet.start()
        let second = try asking()
        try monitor.expect("member=Notify\n", times: 2)
        try signet.touch(Touch.alice, on: .text)
        try second.expect("successfully authenticated")
        try monitor.expect("member=NotificationClosed", times: 2)
        #expect(notifier.ended == nil)
    }

    @Test("say nothing of a request on a terminal, or for another user's finger")
    func others() throws {
        let notifier = try notifier()
        let first = try asking()
        try monitor.expect("member=Notify\n")
        try signet.touch(Touch.alice, on: .text)
        try first.expect("successfully authenticated")
        try monitor.expect("member=NotificationClosed")

        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        try host.show(.session(of: HostFixture.bob))
        let bobs = try asking(HostFixture.bob)
        // Nothing tells here when the reader, which sudo has just let go, waits for bob.
        signet.touchBlindly(Touch.bob, on: .text) { bobs.ended != nil }
        try bobs.expect("successfully authenticated")

        try host.show(.session(of: HostFixture.alice))
        let last = try asking()
        try monitor.expect("member=Notify\n", times: 2)
        try signet.touch(Touch.alice, on: .text)
        try last.expect("successfully authenticated")
        #expect(notifier.ended == nil)
        #expect(!monitor.output.contains("bob") && !monitor.output.contains("sudo"))
    }

    @Test("without a bus it says so and ends; when the bus ends, it ends too")
    func noBus() throws {
        var environment = Self.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/run/alice/nothing"
        let lonely = try host.run(
            ["/usr/local/bin/signet", "notify"], as: HostFixture.alice, environment: environment)
        #expect(lonely.ending == .exited(1))
        #expect(lonely.errors.hasPrefix("signet: the session bus cannot be used: "))
        let ran = "/run/alice/ran"
        for address in ["unixexec:path=/usr/bin/touch,argv1=\(ran)", "nonce", "tcp:port=1"] {
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            let strange = try host.run(
                ["/usr/local/bin/signet", "notify"], as: HostFixture.alice, environment: environment
            )
            #expect(strange.ending == .exited(1), "\(address)")
        }
        #expect(try host.run(["test", "-e", ran]).ending == .exited(1))

        let notifier = try notifier()
        let asking = try asking()
        try monitor.expect("member=Notify\n")
        bus.signal(SIGTERM)
        #expect(try notifier.expectEnd().ending == .exited(1))
        #expect(notifier.errors == "signet: the session bus was closed\n")
        #expect(asking.ended == nil, "a login does not hang on it")
    }

    @Test("does not trust another sender in the daemon's place")
    func foreign() throws {
        try signet.stop()
        let impostor = try host.start(
            ["systemd-socket-activate", "--seqpacket", "--listen", "/run/alice/socket", "cat"],
            as: HostFixture.alice)
        defer { impostor.signal(SIGKILL) }
        try impostor.expectError("Listening on")
        try signet.shell("mv /run/alice/socket /run/signet/signetd.sock")
        let notifier = try notifier()
        #expect(try notifier.expectEnd().ending == .exited(1))
        #expect(notifier.errors.contains("does not run as root"))
    }
}
