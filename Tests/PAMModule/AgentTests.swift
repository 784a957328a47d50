// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import TestSupport
import Testing

@Suite("polkit's agent, behind polkit's helper")
struct AgentTests {
    /// A login for polkit whose caller is told by `script`: the probe is `"$@"`.
    private func start(_ fixture: ModuleFixture, _ script: String) throws -> Program {
        try fixture.host.writeService("polkit-1", "auth required pam_signet.so\n")
        return try fixture.host.start(
            ["/bin/sh", "-c", script, "sh", "\(Layout.products)/PAMModuleProbe"],
            environment: [
                "PROBE_SERVICE": "polkit-1", "PROBE_USER": "alice", "PROBE_STEPS": "auth",
            ])
    }

    @Test("is the helper's parent; other services have none")
    func parent() throws {
        let fixture = try ModuleFixture()
        let agent = try start(fixture, "echo agent $$; \"$@\"; true")
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try agent.expect("agent \(try #require(request.agent))\n")
        try visit.prove(fixture.proof(for: request))
        #expect(try agent.codes() == [ModuleFixture.Code.success])
        let other = try fixture.start()
        let plain = try fixture.visit()
        #expect(try plain.authenticate().agent == nil)
        other.signal(SIGKILL)
    }

    @Test("that has died before the touch is used gives no access")
    func died() throws {
        let fixture = try ModuleFixture()
        let agent = try start(fixture, "echo agent $$; \"$@\"; true")
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try visit.send(.assertion(fixture.proof(for: request)))
        try #require(try visit.isAsked())
        agent.signal(SIGKILL)
        while agent.ended == nil { sched_yield() }
        try visit.send(.confirmed(password: nil))
        try agent.expect("auth \(ModuleFixture.Code.authError)\n")
        #expect(agent.output.contains("session changed meanwhile"))
    }

    @Test("is the peer of the helper's standard input, where root's service is asked")
    func peer() throws {
        let fixture = try ModuleFixture()
        // perl makes both ends; the probe is a grandchild, so that its parent is another.
        let script = """
            exec perl -MSocket -e '
                $| = 1; print "agent $$\\n";
                socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, 0) or die;
                if (my $child = fork) { waitpid $child, 0; exit }
                if (my $child = fork) { waitpid $child, 0; exit }
                open STDIN, "<&", $one or die; exec @ARGV' "$@"
            """
        let agent = try start(fixture, script)
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        try agent.expect("agent \(try #require(request.agent))\n")
        try visit.prove(fixture.proof(for: request))
        #expect(try agent.codes() == [ModuleFixture.Code.success])
    }

    @Test("is unknown if standard input is a socket that has no peer on this machine")
    func noPeer() throws {
        let fixture = try ModuleFixture()
        let script = """
            exec perl -MSocket -e '
                socket(my $one, AF_INET, SOCK_DGRAM, 0) or die;
                open STDIN, "<&", $one or die; exec @ARGV' "$@"
            """
        let agent = try start(fixture, script)
        let visit = try fixture.visit()
        #expect(try visit.authenticate().agent == nil)
        agent.signal(SIGKILL)
    }
}
