// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("what follows a login")
struct CredentialTests {
    /// Stacks in which a password may stand in for the finger, by pam_permit.
    static let stacks = [
        "auth sufficient pam_signet.so\nauth required pam_permit.so",
        """
        auth [success=1 default=ignore] pam_signet.so
        auth required pam_permit.so
        auth required pam_permit.so
        """,
    ]

    @Test("setting credentials succeeds after a proof, and reports nothing", arguments: stacks)
    func afterProof(_ stack: String) throws {
        let fixture = try ModuleFixture(stack: stack)
        let probe = try fixture.start(["auth", "establish", "reinitialize"])
        let visit = try fixture.visit()
        try visit.prove(fixture.proof(for: visit.authenticate()))
        #expect(try probe.lines().prefix(3) == ["auth 0", "establish 0", "reinitialize 0"])
        #expect(!fixture.hasVisit)
    }

    @Test(
        "a password that was accepted instead is reported once, for the account that asked",
        arguments: stacks, ["establish", "reinitialize"])
    func afterPassword(_ stack: String, _ step: String) throws {
        let fixture = try ModuleFixture(stack: stack)
        // sudo names the target before it sets credentials.
        let probe = try fixture.start(["auth", "user:root", step, step])
        let first = try fixture.visit()
        _ = try first.authenticate()
        try first.send(.denial(Denial(.lockedUntilPassword)))
        let second = try fixture.visit()
        let expected = Request.passwordAccepted(
            account: "alice", service: "probe")
        #expect(try second.request() == expected)
        try second.send(.done(DoneAnswer()))
        let lines = try probe.lines()
        #expect(lines.suffix(4).prefix(3) == ["auth 0", "\(step) 0", "\(step) 0"])
        #expect(!fixture.hasVisit)
    }

    @Test("a daemon that does not answer the report holds nothing up")
    func silentReport() throws {
        let fixture = try ModuleFixture(stack: CredentialTests.stacks[0])
        let probe = try fixture.start(["auth", "establish"])
        let first = try fixture.visit()
        _ = try first.authenticate()
        try first.send(.denial(Denial(.lockedForNow, seconds: 5)))
        let second = try fixture.visit()
        #expect(try probe.lines().contains("establish 0"))
        _ = try second.request()
    }

    @Test(
        "nothing is reported without root, without authenticate, or to delete credentials",
        arguments: [
            ["auth", "euid:4243", "establish"], ["establish"], ["reinitialize"],
            ["auth", "delete"],
        ])
    func noReport(_ steps: [String]) throws {
        let fixture = try ModuleFixture(stack: CredentialTests.stacks[0])
        let probe = try fixture.start(steps)
        if steps.contains("auth") {
            let visit = try fixture.visit()
            _ = try visit.authenticate()
            try visit.send(.denial(Denial(.lockedForNow, seconds: 5)))
        }
        let lines = try probe.lines()
        #expect(lines.contains { $0.hasSuffix(" 0") })
        #expect(!fixture.hasVisit)
    }

    @Test("nothing is reported where nothing is enrolled, or after a proof at a second try")
    func nothingToReport() throws {
        let none = try ModuleFixture(stack: CredentialTests.stacks[0], isRegistered: false)
        #expect(try none.start(["auth", "establish"]).lines().contains("establish 0"))
        #expect(!none.hasVisit)
        let fixture = try ModuleFixture(stack: CredentialTests.stacks[0])
        let probe = try fixture.start(["auth", "auth", "establish"])
        let first = try fixture.visit()
        _ = try first.authenticate()
        try first.send(.denial(Denial(.timedOut)))
        let second = try fixture.visit()
        try second.prove(fixture.proof(for: second.authenticate()))
        #expect(try probe.lines().contains("establish 0"))
        #expect(!fixture.hasVisit)
    }

    @Test("a required line alone fails to set credentials where it never authenticated")
    func withoutAuthenticate() throws {
        let fixture = try ModuleFixture()
        let lines = try fixture.start(["establish"]).lines()
        #expect(lines.first?.hasPrefix("establish ") == true && lines.first != "establish 0")
    }
}
