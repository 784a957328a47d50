// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("notices on the desktop", .timeLimit(.minutes(5)))
struct NotifyTests {
    private let signet: SignetStage
    private var stage: Stage { signet.stage }
    private let bus: Program
    private let screen: Program
    /// Hears all that goes over alice's bus.
    private let monitor: Program

    private static let address = "unix:path=/run/alice/bus"
    private static let environment = ["DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":7"]

    /// A desktop of alice's: an X server, a session bus, and dunst, which the bus starts.
    init() throws {
        // A reader that keeps no prints itself, since the daemon is started anew here.
        signet = try SignetStage(readers: [.text], programs: Built.programs())
        for (account, id) in [(Stage.alice, Touch.alice), (Stage.bob, Touch.bob)] {
            try signet.enroll(account, as: id, on: .text)
        }
        let stage = signet.stage
        try signet.shell(
            """
            install -d -m 700 -o alice /run/alice && install -d -m 1777 /tmp/.X11-unix
            install -D -m 755 \(try Built.program("signet")) /usr/local/bin/signet
            install -D -m 755 \(try Built.program("signet-notify")) \
                /usr/local/libexec/signet/signet-notify
            """)
        screen = try stage.start(
            ["Xvfb", ":7", "-displayfd", "1", "-nolisten", "tcp", "-nolisten", "local"],
            as: Stage.alice)
        try screen.expect("7\n", within: .seconds(20))
        bus = try stage.start(
            [
                "dbus-daemon", "--session", "--nofork", "--print-address=1",
                "--address=\(Self.address)",
            ], as: Stage.alice, environment: Self.environment)
        try bus.expect("unix:path")
        monitor = try stage.start(
            ["dbus-monitor", "--session"], as: Stage.alice, environment: Self.environment)
        try monitor.expect("member=NameLost")
    }

    private func notifier() throws -> Program {
        try stage.start(
            ["/usr/local/bin/signet", "notify"], as: Stage.alice, environment: Self.environment)
    }

    /// Something without a terminal that asks for a finger.
    private func asking(_ account: Account = Stage.alice) throws -> Program {
        try stage.start(["pamtester", "locker", account.name, "authenticate"], as: account)
    }

    @Test("say who asks where no terminal does, and go when the touch is over")
    func touch() throws {
        let notifier = try notifier()
        let asking = try asking()
        try monitor.expect(
            "string \"locker asks for a fingerprint of alice\"", within: .seconds(20))
        try monitor.expect("byte 2")
        try signet.touch(Touch.alice, on: .text)
        try asking.expect("successfully authenticated")
        // 3: closed by whoever showed it.
        try monitor.expect("member=NotificationClosed")
        try monitor.expect("uint32 3")
        #expect(monitor.output.ranges(of: "member=Notify\n").count == 1)
        notifier.signal(SIGTERM)
        #expect(try notifier.expectEnd().ending == .exited(0))
    }

    @Test("come again after the daemon was restarted, and go where it is killed in between")
    func restart() throws {
        let notifier = try notifier()
        let first = try asking()
        try monitor.expect("member=Notify\n", within: .seconds(20))
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

    @Test("say nothing of what asks on a terminal, or for somebody else's finger")
    func others() throws {
        let notifier = try notifier()
        let first = try asking()
        try monitor.expect("member=Notify\n", within: .seconds(20))
        try signet.touch(Touch.alice, on: .text)
        try first.expect("successfully authenticated")
        try monitor.expect("member=NotificationClosed")

        let terminal = try stage.terminal(["sudo", "id", "-un"], as: Stage.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        try stage.show(.session(of: Stage.bob))
        let bobs = try asking(Stage.bob)
        // Nothing tells here when the reader, which sudo has just let go, waits for bob.
        signet.touchBlindly(Touch.bob, on: .text) { bobs.ended != nil }
        try bobs.expect("successfully authenticated")

        try stage.show(.session(of: Stage.alice))
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
        let lonely = try stage.run(
            ["/usr/local/bin/signet", "notify"], as: Stage.alice, environment: environment)
        #expect(lonely.ending == .exited(1))
        #expect(lonely.errors.hasPrefix("signet: the session bus cannot be used: "))
        let ran = "/run/alice/ran"
        for address in ["unixexec:path=/usr/bin/touch,argv1=\(ran)", "nonce", "tcp:port=1"] {
            environment["DBUS_SESSION_BUS_ADDRESS"] = address
            let strange = try stage.run(
                ["/usr/local/bin/signet", "notify"], as: Stage.alice, environment: environment)
            #expect(strange.ending == .exited(1), "\(address)")
        }
        #expect(try stage.run(["test", "-e", ran]).ending == .exited(1))

        let notifier = try notifier()
        let asking = try asking()
        try monitor.expect("member=Notify\n", within: .seconds(20))
        bus.signal(SIGTERM)
        #expect(try notifier.expectEnd().ending == .exited(1))
        #expect(notifier.errors == "signet: the session bus was closed\n")
        #expect(asking.ended == nil, "a login does not hang on it")
    }

    @Test("does not take another's word for the daemon's")
    func foreign() throws {
        try signet.stop()
        let impostor = try stage.start(
            ["systemd-socket-activate", "--seqpacket", "--listen", "/run/alice/socket", "cat"],
            as: Stage.alice)
        defer { impostor.signal(SIGKILL) }
        try impostor.expectError("Listening on")
        try signet.shell("mv /run/alice/socket /run/signet/signetd.sock")
        let notifier = try notifier()
        #expect(try notifier.expectEnd().ending == .exited(1))
        #expect(notifier.errors.contains("does not run as root"))
    }
}
