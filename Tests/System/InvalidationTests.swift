// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

@Suite("fingers that changed behind the daemon's back", .timeLimit(.minutes(5)))
struct InvalidationTests {
    private let signet: SignetFixture
    private var host: HostFixture { signet.host }
    private static let state = SignetFixture.state(of: HostFixture.alice)
    private static let prints = state + "/prints"
    private static let kept = "/root/kept"

    /// What is done to the files, and what the person is told then.
    struct Change: CustomTestStringConvertible, Sendable {
        let what: String
        let line: String
        let cause: InvalidationCause
        let text: String
        var testDescription: String { what }

        /// What a login says to do: nothing that would seal what a damaged print has left.
        var wayOn: String {
            cause == .printDamaged
                ? "Run 'signet status' to see which, and what to do"
                : "Run 'signet enable' to turn it on again"
        }
    }

    init() throws {
        signet = try SignetFixture.inhabited()
        try signet.enroll(HostFixture.alice, .leftIndex, as: "alice's other")
    }

    @Test(
        "destroy the key for good: the reason is reported, and the password works",
        arguments: [
            Change(
                what: "removed", line: "rm \"$(ls \(prints)/* | head -1)\"",
                cause: .printDamaged, text: "a stored fingerprint was damaged or altered"),
            Change(
                what: "put back after it was deleted, list and all",
                line: "cp -a \(kept)/prints \(kept)/account \(state)/",
                cause: .fingerAdded, text: "a finger was added"),
            Change(
                what: "altered",
                line: """
                    f=$(ls \(prints)/* | head -1)
                    printf XXXXXXXX | dd of="$f" bs=1 seek=$(($(stat -c %s "$f") - 30)) conv=notrunc
                    """,
                cause: .printDamaged, text: "a stored fingerprint was damaged or altered"),
            Change(
                what: "exchanged",
                line: """
                    set -- \(prints)/*
                    mv "$1" /tmp/x; mv "$2" "$1"; mv /tmp/x "$2"
                    """,
                cause: .printDamaged, text: "a stored fingerprint was damaged or altered"),
            Change(
                what: "left alone, and the key cut off",
                line: "truncate -s 100 \(SignetFixture.state(of: HostFixture.alice))/credential",
                cause: .credentialDamaged, text: "the stored key was damaged or altered"),
        ])
    func destroys(change: Change) throws {
        try signet.shell("cp -a \(SignetFixture.state(of: HostFixture.alice)) \(Self.kept)")
        if change.cause == .fingerAdded {
            let answer = try signet.ask(
                .delete(account: "alice", finger: .leftIndex))
            #expect(answer == .done(DoneAnswer(finger: .leftIndex, prints: 1, state: .valid)))
        }
        try signet.shell(change.line)

        try expectDestroyed(change)
        // The old fingers and the old key, put back, are not accepted again.
        try signet.shell(
            """
            rm -r \(Self.prints)
            cp -a \(Self.kept)/prints \(Self.kept)/account \(Self.state)/
            """)
        try expectDestroyed(change)
        let status = try signet.status(HostFixture.alice)
        #expect(status.state == .invalidated)
        #expect(status.cause == change.cause)
        let said = try host.run([try Built.program("signet"), "status"], as: HostFixture.alice)
        #expect(said.output.contains(change.text))
        #expect(!said.succeeded)

        try host.journal.expect("the key's end") {
            $0["SIGNET_CHANGE"] == "destroyed" && $0["SIGNET_ACCOUNT"] == "alice"
        }
    }

    private func expectDestroyed(_ change: Change) throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("fingerprint login is off for alice: \(change.text)")
        try terminal.expect(change.wayOn)
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.passBySudosPrompt()
        #expect(throws: TestFault.self) { try host.read("/var/lib/signet/keys/4242.pub") }
    }

    @Test("changed while a finger is awaited: the touch that comes then is not accepted")
    func meanwhile() throws {
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.shell("rm \"$(ls \(Self.prints)/* | head -1)\"")
        try signet.touch(Touch.alice)
        try terminal.expect(
            "fingerprint login is off for alice: a stored fingerprint was damaged or altered")
        try terminal.passBySudosPrompt()
        try signet.expectDenial("invalidated")
    }

    @Test("a lockout's record that cannot be read keeps the finger out until the password")
    func damagedLockout() throws {
        try signet.shell("echo x >\(SignetFixture.state(of: HostFixture.alice))/lockout")
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("fingerprint login is locked for alice")
        try terminal.passBySudosPrompt()
        #expect(try signet.status(HostFixture.alice).lock == .open)
    }

    @Test("another machine's secret opens nothing: this is reported, and the password works")
    func otherSecret() throws {
        try signet.stop()
        try signet.shell(
            "rm /var/lib/signet/private/host-secret")
        try signet.start()
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expect("this machine's secret is not the one the key was sealed with")
        try terminal.passBySudosPrompt()
    }

    @Test("another account's print among alice's counts for nothing")
    func anothersPrint() throws {
        try signet.shell(
            """
            cp \(SignetFixture.state(of: HostFixture.bob))/prints/* \
            \(Self.prints)/00112233445566778899aabbccddeeff
            """)
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.expectInvitation()
        try signet.touch(Touch.bob)
        try terminal.expect("the finger did not match")
        try terminal.expectInvitation()
        try signet.touch(Touch.alice)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(try signet.status(HostFixture.alice).damaged == 0)
    }

    @Test("signet enable turns it on again when the damaged finger was deleted")
    func enable() throws {
        try signet.shell("rm \"$(ls \(Self.prints)/* | head -1)\"")
        #expect(try signet.status(HostFixture.alice).state == .invalidated)
        let alice: AccountName = "alice"
        guard case .denial(let refused) = try signet.ask(.enable(account: alice)) else {
            Issue.record("a key was made for what is left")
            return
        }
        #expect(refused.reason == .printsDamaged)
        // Deleted knowingly, the finger is done without.
        try #require(refused.finger != nil)
        _ = try signet.ask(.delete(account: alice, finger: refused.finger))
        let answer = try signet.ask(.enable(account: alice))
        #expect(answer == .done(DoneAnswer(prints: 1, state: .valid)))
    }

    @Test("the old key, put back beside its fingers, is not accepted after a new one was issued")
    func oldKey() throws {
        try signet.shell("cp -a \(SignetFixture.state(of: HostFixture.alice)) \(Self.kept)")
        _ = try signet.ask(.enable(account: "alice"))
        try signet.shell(
            "cp -a \(Self.kept)/credential \(SignetFixture.state(of: HostFixture.alice))/credential"
        )
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
    }

    @Test("bob's public key in the place of alice's is refused, with an alert")
    func anothersKey() throws {
        try signet.shell("cp /var/lib/signet/keys/4243.pub /var/lib/signet/keys/4242.pub")
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.passBySudosPrompt()
        try signet.expectAlert("the registered key's file is not trusted")
    }

    @Test(
        "a public key that others may write, or that is a link, is refused, with an alert",
        arguments: [
            "chmod 666 4242.pub", "chown alice 4242.pub", "ln 4242.pub x",
            "mv 4242.pub x; ln -s x 4242.pub", "chmod 777 .", "echo >> 4242.pub",
            "truncate -s 20 4242.pub", "rm 4242.pub; mkfifo 4242.pub",
        ])
    func untrustedKey(line: String) throws {
        try signet.shell("cd /var/lib/signet/keys && { \(line); }")
        let terminal = try host.terminal(["sudo", "id", "-un"], as: HostFixture.alice)
        try terminal.passBySudosPrompt()
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try signet.expectAlert("the registered key's file is not trusted")
    }
}
