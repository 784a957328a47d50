// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("without a daemon that does its duty", .timeLimit(.minutes(5)))
struct DaemonLossTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let silent = "the fingerprint service does not answer: use the password"

    /// The module's, for what ends with it.
    private static let limit = Duration.seconds(4)

    init() throws {
        signet = try SignetFixture.inhabited(options: "timeout=4")
    }

    private func sudo() throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    @Test("that was stopped, or died, the password works at once", arguments: [SIGTERM, SIGKILL])
    func absent(signal: Int32) throws {
        if signal == SIGTERM {
            #expect(try signet.stop() == .exited(0))
        } else {
            #expect(try signet.kill() == .killed(SIGKILL))
        }
        let terminal = try sudo()
        try terminal.expect(Self.silent)
        try terminal.passBySudosPrompt()
    }

    @Test("without its directory, no finger is asked for")
    func noDirectory() throws {
        try signet.stop()
        try signet.shell("rm -r /run/signet")
        try sudo().passBySudosPrompt()
    }

    @Test("that stood still before, the password works, at the prompt that waits for it to start")
    func suspendedBefore() throws {
        try signet.writeServices(options: "timeout=2")
        signet.suspend()
        let terminal = try sudo()
        try terminal.expect("preparing the fingerprint reader")
        try terminal.expect("or type the password: ")
        // More than the user has for a touch.
        _ = poll(nil, 0, 3_000)
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        signet.resume()
        #expect(try signet.status(HostFixture.alice).lock == .open)
    }

    @Test("that stands still while a finger is awaited, the module returns when the time is up")
    func suspendedDuring() throws {
        let begun = ContinuousClock.now
        let terminal = try sudo()
        try terminal.expectInvitation()
        signet.suspend()
        try terminal.expect("no fingerprint was read in time")
        expectReturn(since: begun, of: "a daemon stopped during")
        try terminal.passBySudosPrompt()
        signet.resume()
        try signet.writeServices(options: "")
        let next = try sudo()
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
    }

    @Test("that is slow to answer, the password can be typed meanwhile, and a touch still counts")
    func slow() throws {
        try signet.writeServices(options: "timeout=6")
        signet.suspend()
        let typing = try sudo()
        try typing.expect("preparing the fingerprint reader")
        try typing.expect("or type the password: ")
        try typing.sendLine(HostFixture.alice.password)
        try typing.expect("root\r\n")
        let touching = try host.terminal(["sudo", "-k", "id", "-un"], as: HostFixture.alice)
        try touching.expect("preparing the fingerprint reader")
        // Time itself is awaited: more than the user has once the daemon answers.
        _ = poll(nil, 0, 9_000)
        signet.resume()
        try touching.expectInvitation()
        try signet.touch(Touch.alice)
        try touching.expect("root\r\n")
        #expect(touching.transcript.ranges(of: "preparing").count == 1)
    }

    @Test("that is there, and no finger, the module returns when the time is up")
    func timeUp() throws {
        let begun = ContinuousClock.now
        let terminal = try sudo()
        try terminal.expect("no fingerprint was read in time")
        expectReturn(since: begun, of: "no touch")
        try terminal.passBySudosPrompt()
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    /// From the start of sudo on: the whole program, its start included, on a machine that is busy.
    private func expectReturn(
        since begun: ContinuousClock.Instant, after limit: Duration = Self.limit, of what: String
    ) {
        let late = ContinuousClock.now - begun - limit
        #expect(late >= .zero)
        #expect(late < .seconds(5))
        print("measured: \(what): the module returned \(late) after its deadline")
    }

    @Test("that is killed while a finger is awaited, the password works at once")
    func killedDuring() throws {
        try signet.writeServices(options: "")
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.kill()
        try terminal.expect(Self.silent)
        try terminal.passBySudosPrompt()
    }

    @Test("that is stopped while a finger is awaited, the password works at once")
    func stoppedDuring() throws {
        try signet.writeServices(options: "")
        let terminal = try sudo()
        try terminal.expectInvitation()
        #expect(try signet.stop() == .exited(0))
        try terminal.passBySudosPrompt()
    }

    // MARK: Somebody else at the socket

    /// Listens as bob: at bob's own socket, or at one that root had bound.
    private static let impostor = """
        use Socket; $| = 1; my ($path, $early) = @ARGV; my $socket;
        sub bob { $) = "4243 4243"; $( = 4243; $< = $> = 4243 }
        bob if $early; socket($socket, AF_UNIX, 5, 0) or die $!;
        bind($socket, pack_sockaddr_un($path)) or die $!;
        bob; listen($socket, 5) or die $!; print "listening\\n"; sleep 1000;
        """

    @Test(
        "but bob in its place, no login succeeds, and there is an alert", arguments: [true, false])
    func impostor(ownsSocket: Bool) throws {
        try signet.stop()
        if ownsSocket { try signet.shell("chown bob /run/signet") }
        let listener = try host.start(
            ["perl", "-e", Self.impostor, SignetFixture.socket, ownsSocket ? "1" : ""])
        try listener.expect("listening")
        // A directory of root's, with bob's socket in it.
        if ownsSocket { try signet.shell("chown root /run/signet") }
        let terminal = try sudo()
        try terminal.expect("the fingerprint service's answer was rejected as invalid")
        try terminal.passBySudosPrompt()
        try signet.expectAlert(
            ownsSocket
                ? "the path of signetd's socket is not trusted" : "the daemon is not root")
    }

    @Test("but a directory that others may write, or a link, no login succeeds")
    func untrustedDirectory() throws {
        for line in ["chmod 777 /run/signet", "mv /run/signet /run/s; ln -s s /run/signet"] {
            try signet.shell("chmod 755 /run/signet; \(line)")
            let terminal = try sudo()
            try terminal.expect("the fingerprint service's answer was rejected as invalid")
            try terminal.passBySudosPrompt()
        }
        try signet.expectAlert("the path of signetd's socket is not trusted")
    }
}

@Suite("without a reader that does its duty", .timeLimit(.minutes(5)))
struct ReaderLossTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    private func sudo() throws -> Terminal {
        try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
    }

    @Test("a missing reader: a message says so, and the password is asked for at once")
    func absent() throws {
        try signet.stop()
        try signet.start(readers: [])
        let terminal = try sudo()
        try terminal.expect(
            "no usable fingerprint reader was found: use the password")
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains("swipe"))
        try signet.expectDenial("noReader")
        #expect(try signet.failures(of: HostFixture.alice) == 0)
    }

    @Test("it is unplugged while a finger is awaited")
    func unplugged() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.unplug()
        try terminal.expect("the fingerprint reader was unplugged")
        try terminal.passBySudosPrompt()
        try signet.expectDenial("readerRemoved")
        #expect(try signet.failures(of: HostFixture.alice) == 0)
        let next = try sudo()
        try next.passBySudosPrompt()
    }

    @Test(
        "it fails while a finger is awaited",
        arguments: [
            (4, "the fingerprint reader is in use by another program", "readerBusy"),
            (257, "the fingerprint reader is too hot", "readerTooHot"),
            (
                5, "the fingerprint reader gave an answer that its driver does not understand",
                "readerConfused"
            ),
            (0, "the fingerprint reader failed", "readerFailed"),
        ])
    func fails(code: Int, text: String, reason: String) throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try signet.reader().send(.error(code))
        try terminal.expect(text)
        try terminal.passBySudosPrompt()
        try signet.expectDenial(reason)
        #expect(try signet.failures(of: HostFixture.alice) == 0)

        let next = try sudo()
        try next.expectInvitation()
        try signet.touch(Touch.alice)
        try next.expect("root\r\n")
        #expect(try next.expectEnd() == .exited(0))
    }
}
