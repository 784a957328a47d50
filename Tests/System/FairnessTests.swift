// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// What a user does to keep another's finger from working.
@Suite("bob cannot keep alice's finger from working", .timeLimit(.minutes(5)))
struct FairnessTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }

    init() throws {
        signet = try SignetFixture.inhabited()
    }

    private func sudo() throws -> Terminal {
        try host.terminal(AlicesProgram.sudo.command, as: HostFixture.alice)
    }

    private func touch(for terminal: Terminal) throws {
        try signet.touch(Touch.alice)
        try terminal.expect(AlicesProgram.sudo.inside)
        #expect(try terminal.expectEnd() == .exited(0))
    }

    private func expectServed() throws {
        let terminal = try sudo()
        try terminal.expectInvitation()
        try touch(for: terminal)
    }

    // MARK: The queue

    @Test("by three su for her, which get no touch and take no place")
    func refused() throws {
        try host.show(.session(of: HostFixture.bob))
        let others = try (0..<3).map { _ in
            try host.terminal(["su", "alice"], as: HostFixture.bob)
        }
        for other in others { try other.expect("Password: ") }
        try signet.expectDenial("otherRequester")
        try host.show(.session(of: HostFixture.alice))
        try expectServed()
        for other in others { #expect(!other.transcript.contains(SignetFixture.invitation)) }
    }

    @Test("by three su for her where they may ask: they take his share, and her turn is the next")
    func share() throws {
        try host.write("/etc/signet/signet.conf", "[login]\nothers = warn\n")
        try signet.stop()
        try signet.start()
        func su() throws -> Terminal {
            try host.terminal(
                ["su", "alice"], as: HostFixture.bob, in: .session(of: HostFixture.alice))
        }
        let first = try su()
        try first.expectInvitation()
        let waiting = try (0..<2).map { _ in
            let other = try su()
            try other.expect("waiting: ")
            return other
        }
        let fourth = try su()
        try fourth.expect(", and the queue is full. Try again later")
        try fourth.expect("Password: ")
        let own = try sudo()
        try own.expect("waiting: ")
        try own.expect(SignetFixture.orPassword)
        try first.control(.c)
        try first.expectEnd()
        try own.expectInvitation()
        for other in waiting { #expect(!other.transcript.contains(SignetFixture.invitation)) }
        try touch(for: own)
        for other in waiting { #expect(!other.transcript.contains("alice@linux$")) }
    }

    @Test("by an enrolment without touches: it makes way after 15 s")
    func idleEnrolment() throws {
        try host.show(.session(of: HostFixture.bob))
        let begin = ContinuousClock.now
        let enrolment = try host.terminal(
            [try Built.program("signet"), "enroll", "left-index"], as: HostFixture.bob)
        try enrolment.expect("Password of bob: ")
        try enrolment.sendLine(HostFixture.bob.password)
        try enrolment.expect(SignetFixture.invitation)
        try host.show(.session(of: HostFixture.alice))
        let terminal = try sudo()
        try terminal.expect("waiting: ")
        try enrolment.expect("stopped because another request was waiting")
        #expect(ContinuousClock.now - begin >= .seconds(15))
        #expect(try enrolment.expectEnd() != .exited(0))
        try terminal.expectInvitation()
        try touch(for: terminal)
    }

    // MARK: Connections

    /// Connects so often or until the queue is full, says how it went, and stays.
    private static let crowd = """
        use Socket qw(:DEFAULT SOCK_NONBLOCK);
        my ($path, $count) = @ARGV;
        my ($state, @held) = "held";
        for (1..$count) {
            socket(my $end, AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0) or die "socket: $!";
            if (!connect($end, pack_sockaddr_un($path))) { $state = "full"; last }
            push @held, $end;
        }
        $| = 1;
        print "$state\\n";
        sleep 1 while 1;
        """

    private static func connecting(_ count: Int) -> [String] {
        ["perl", "-e", crowd, SignetFixture.socket, "\(count)"]
    }

    /// Nothing of his may keep others but root from the daemon either: the command is alice's own.
    private func expectAnswered() throws {
        let status = try host.run([try Built.program("signet"), "status"], as: HostFixture.alice)
        #expect(status.succeeded, "\(status.output)\(status.errors)")
    }

    @Test("by connections of his own and of six of his subordinate uids")
    func connections() throws {
        try host.write("/etc/subuid", "bob:100000:65536\n")
        let place = FixturePlace.session(of: HostFixture.bob)
        var crowds = [try host.start(Self.connecting(100), as: HostFixture.bob)]
        for uid in 100_000..<100_006 {
            crowds.append(
                try host.start(
                    ["setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"]
                        + Self.connecting(100), in: place))
        }
        for crowd in crowds { try crowd.expect("held\n") }
        try expectAnswered()
        try expectServed()
        for crowd in crowds { crowd.signal(SIGKILL) }
    }

    @Test("by connecting again and again")
    func hammering() throws {
        let line = """
            use Socket;
            $| = 1; print "begun\\n";
            while (1) {
                socket(my $end, AF_UNIX, SOCK_SEQPACKET, 0) or die;
                connect($end, pack_sockaddr_un($ARGV[0]));
            }
            """
        let hammer = try host.start(
            ["perl", "-e", line, SignetFixture.socket], as: HostFixture.bob)
        try hammer.expect("begun\n")
        try expectServed()
        #expect(hammer.ended == nil)
        hammer.signal(SIGKILL)
    }

    @Test("for longer than his connections fill the queue of a daemon that stands still")
    func fullQueue() throws {
        signet.suspend()
        var crowds: [TestSupport.Program] = []
        // A process may have a thousand descriptors, and the queue holds more.
        repeat {
            crowds.append(try host.start(Self.connecting(900), as: HostFixture.bob))
            try crowds.last?.expect("\n")
        } while crowds.last?.output == "held\n" && crowds.count < 20
        #expect(crowds.last?.output == "full\n")
        #expect(crowds.count > 1)
        let kept = try sudo()
        try kept.expect("the fingerprint service does not answer: use the password")
        try kept.passBySudosPrompt()
        // The daemon is rid of him by itself, and he keeps his connections open.
        signet.resume()
        try expectAnswered()
        try expectServed()
        for crowd in crowds { crowd.signal(SIGKILL) }
    }
}
