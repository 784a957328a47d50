// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("the daemon's life", .timeLimit(.minutes(5)))
struct DaemonLifeTests {
    private static let configuration = "/etc/signet/signet.conf"

    private func sudo(on signet: SignetFixture) throws -> Terminal {
        try signet.host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    @Test("a login starts it at its socket, and it ends when it is idle")
    func activation() throws {
        let signet = try SignetFixture(readers: [.text])
        try signet.enroll(HostFixture.alice, as: Touch.alice, on: .text)
        try signet.stop()
        try signet.host.write(Self.configuration, "[daemon]\nidle-exit = 1s\n")
        let activator = try signet.host.start(
            ["systemd-socket-activate", "--seqpacket", "-l", SignetFixture.socket]
                + SignetFixture.command(for: [.text]), in: SignetFixture.unit)
        try activator.expectError("Listening on \(SignetFixture.socket)")
        let terminal = try sudo(on: signet)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try activator.expectEnd().ending == .exited(0))
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("no variable of its environment gives the installed daemon a reader")
    func environment() throws {
        let variables = [
            "FP_VIRTUAL_DEVICE=/run/readers/text", "FP_VIRTUAL_IMAGE=/run/readers/image",
            "FP_DRIVERS_WHITELIST=virtual_device",
        ]
        // The driver that serves the tests, so that the variables are the right ones.
        let signet = try SignetFixture(readers: [.text])
        #expect(try signet.drivers() == ["virtual_device"])
        try signet.stop()
        let activator = try signet.host.start(
            ["systemd-socket-activate", "--seqpacket", "-l", SignetFixture.socket]
                + variables.flatMap { ["-E", $0] }
                + [try Built.program("signetd")], in: SignetFixture.unit)
        try activator.expectError("Listening on \(SignetFixture.socket)")
        // This machine may have readers of its own.
        #expect(try signet.drivers().allSatisfy { !$0.hasPrefix("virtual") })
        activator.signal(SIGTERM)
        #expect(try activator.expectEnd().ending == .exited(0))
    }

    @Test("a message bus that stands still is called slow, and no login waits for it")
    func slowBus() throws {
        let signet = try SignetFixture.inhabited()
        let (bus, _) = try signet.startBus()
        bus.stop()
        defer { bus.proceed() }
        try signet.stop()
        try signet.start()
        let terminal = try sudo(on: signet)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        try signet.host.journal.expect("word of the bus") {
            $0.message == "the message bus is slow: the next request tries it again"
        }
        bus.proceed()
        _ = try signet.status(HostFixture.alice)
        let second = try sudo(on: signet)
        try second.expectInvitation()
        try bus.awaitInhibitors(1)
        try second.sendLine(HostFixture.alice.password)
        #expect(try second.expectEnd() == .exited(0))
    }

    @Test(
        "a mistake in the configuration asks for no finger, names file and line, and leaves the password"
    )
    func badConfiguration() throws {
        let signet = try SignetFixture.inhabited()
        try signet.stop()
        try signet.host.write(Self.configuration, "[touch]\ntimeout = 20s\nfrobnicate = 1\n")
        try signet.start()
        let fault = try #require(try signet.status(HostFixture.alice).configurationFault)
        #expect(String(decoding: fault, as: UTF8.self).contains("\(Self.configuration):3"))
        try signet.host.journal.expect("the fault") {
            $0.priority == 3 && $0.message.contains("\(Self.configuration):3")
        }
        let terminal = try sudo(on: signet)
        try terminal.expect(
            "no finger is asked for until an administrator corrects this: \(Self.configuration):3: "
        )
        try terminal.expect("assword")
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        try signet.expectDenial("settingsNotUnderstood")
    }

    @Test(
        "settings that were understood stay in force after a mistake, and exclude whom they excluded"
    )
    func lastGoodConfiguration() throws {
        let signet = try SignetFixture.inhabited()
        for text in ["[login]\nservices = !su\n", "[login]\nservices = !su\n[daemon]\nidle = 9s\n"]
        {
            try signet.stop()
            try signet.host.write(Self.configuration, text)
            try signet.start()
        }
        #expect(try signet.status(HostFixture.alice).configurationFault != nil)
        let terminal = try sudo(on: signet)
        try terminal.expectInvitation()
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        let settings = try signet.host.run(["cat", "/var/lib/signet/private/settings"]).output
        #expect(settings.contains("services = !su"))
    }

    @Test("without a waiting place, the second login sees who is served, and the password works")
    func fullQueue() throws {
        let signet = try SignetFixture.inhabited()
        try signet.stop()
        try signet.host.write(Self.configuration, "[touch]\nwaiting = 0\n")
        try signet.start()
        let first = try sudo(on: signet)
        try first.expectInvitation()
        let second = try sudo(on: signet)
        let name = first.path.dropFirst("/dev/".count)
        try second.expect("sudo id -un (alice, \(name)) is using the reader, and the queue is full")
        try second.passBySudosPrompt()
        try signet.expectDenial("queueFull")
        try first.sendLine(HostFixture.alice.password)
        try first.expect("root\r\n")
    }

    @Test("its time limit holds, whatever the module asks for")
    func shorterLimit() throws {
        let signet = try SignetFixture.inhabited(options: "timeout=60")
        try signet.stop()
        try signet.host.write(Self.configuration, "[touch]\ntimeout = 1s\n")
        try signet.start()
        let terminal = try sudo(on: signet)
        try terminal.expect("no fingerprint was read in time")
        try terminal.passBySudosPrompt()
        try signet.expectDenial("timedOut")
    }

    @Test("a second daemon does not take the first one's socket")
    func second() throws {
        let signet = try SignetFixture.inhabited()
        let second = try signet.host.run(
            SignetFixture.command(for: []), in: SignetFixture.unit)
        #expect(second.ending == .exited(1))
        let terminal = try sudo(on: signet)
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }
}

extension SignetFixture {
    /// The drivers of the readers that the daemon has.
    fileprivate func drivers() throws -> [String] {
        try connect().answers(to: .readers).compactMap { answer in
            guard case .reader(let reader) = answer else { return nil }
            return String(decoding: reader.driver, as: UTF8.self)
        }
    }
}
