// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import TestSupport
import Testing

/// A password that comes with the proof. `pam_exec` behind the module shows what it was given: it
/// asks for a password where there is none.
@Suite("the login password for the keyring, in the module")
struct KeyringTests {
    private static let stack = """
        auth required pam_signet.so keyring
        auth optional pam_exec.so expose_authtok stdout /usr/bin/tr -d '\\000'
        """
    private static let secret = "kestrel-\(getpid())-umbrella"

    private func fixture(
        isRegistered: Bool = true, stack: String = KeyringTests.stack
    ) throws -> ModuleFixture {
        try ModuleFixture(stack: stack, isRegistered: isRegistered)
    }

    @Test("is requested by root, and passed on after a proof; without one the next module asks")
    func handedOn() throws {
        let fixture = try fixture()
        let probe = try fixture.start(["auth", "auth"])
        let first = try fixture.visit()
        let request = try first.authenticate()
        #expect(request.wantsKeyring)
        try first.prove(fixture.proof(for: request), password: Self.secret)
        let second = try fixture.visit()
        try second.prove(fixture.proof(for: second.authenticate()))
        let lines = try probe.lines()
        #expect(
            lines.prefix(4) == ["info \(Self.secret)", "auth 0", "prompt Password: ", "auth 0"])
    }

    @Test(
        "is neither requested nor accepted by another user, nor by a line without the option",
        arguments: [true, false])
    func notWanted(isRoot: Bool) throws {
        let fixture = try fixture(
            stack: isRoot ? Self.stack.replacing(" keyring", with: "") : Self.stack)
        let probe = try fixture.start(isRoot ? ["auth"] : ["euid:4243", "auth"])
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        #expect(!request.wantsKeyring)
        try visit.prove(fixture.proof(for: request), password: Self.secret)
        let lines = try probe.lines()
        #expect(lines.contains("auth \(ModuleFixture.Code.authError)"))
        #expect(!lines.contains { $0.contains(Self.secret) })
        try fixture.host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("an unrequested password arrived")
        }
    }

    @Test("sets nothing where the proof does not verify, or no key is registered")
    func unproven() throws {
        let fixture = try fixture()
        let probe = try fixture.start(["auth", "auth", "auth"])
        let changes: [(inout Assertion) -> Void] = [
            { $0.signature[$0.signature.count - 1] ^= 1 }, { $0.statement[30] ^= 1 },
            { $0.signature = [1] },
        ]
        for change in changes {
            let visit = try fixture.visit()
            var proof = try fixture.proof(for: visit.authenticate())
            change(&proof)
            try visit.prove(proof, password: Self.secret)
        }
        let lines = try probe.lines()
        #expect(lines.filter { $0 == "auth \(ModuleFixture.Code.authError)" }.count == 3)
        #expect(!lines.contains { $0.contains(Self.secret) })

        let off = try self.fixture(isRegistered: false)
        try off.host.write(ModuleFixture.offPath, "")
        let refused = try off.start()
        let visit = try off.visit()
        try visit.prove(off.proof(for: visit.authenticate()), password: Self.secret)
        #expect(try refused.lines().contains("auth \(ModuleFixture.Code.authError)"))
    }

    @Test("with a NUL in it, or of no length, it is no password")
    func malformed() throws {
        let fixture = try fixture()
        let probe = try fixture.start(["auth", "auth"])
        for password in ["a\0b", ""] {
            let visit = try fixture.visit()
            try visit.prove(fixture.proof(for: visit.authenticate()), password: password)
        }
        let lines = try probe.lines()
        #expect(!lines.contains { $0.hasPrefix("info") || $0 == "auth 0" })
    }

    @Test("leaves no copy in the application's memory, whether it was taken or refused")
    func wiped() throws {
        let fixture = try ModuleFixture(stack: "auth required pam_signet.so keyring")
        for isGood in [true, false] {
            let probe = try fixture.start(["auth", "auth"])
            let first = try fixture.visit()
            let proof = try fixture.proof(for: first.authenticate())
            try first.send(.assertion(proof))
            #expect(try first.isAsked())
            let confirmed = try Answer.confirmed(password: Bytes(Self.secret.utf8)).encoded()
            try first.send(isGood ? confirmed : confirmed + [0])
            // The application waits for the next touch while its memory is searched.
            let second = try fixture.visit()
            let request = try second.authenticate()
            #expect(try !ProcessMemory.holds(Self.secret, in: probe.pid))
            #expect(try ProcessMemory.holds("pam_signet", in: probe.pid), "the search finds")
            try second.prove(fixture.proof(for: request))
            #expect(try probe.codes() == [isGood ? 0 : ModuleFixture.Code.authError, 0])
        }
    }
}

/// A changed password, which real pam_unix sets before the module's line.
@Suite("the module's line for passwords")
struct PasswordChangeTests {
    private static let password = "osprey-\(getpid())-umbrella"
    private static let unix = "password required pam_unix.so sha512\n"

    private func fixture(
        _ stack: String = PasswordChangeTests.unix + "password optional pam_signet.so",
        isRegistered: Bool = true, listens: Bool = true
    ) throws -> ModuleFixture {
        try ModuleFixture(stack: stack, listens: listens, isRegistered: isRegistered)
    }

    private func start(_ fixture: ModuleFixture, _ steps: [String] = ["chauthtok"]) throws
        -> Program
    {
        try fixture.start(steps, environment: ["PROBE_PASSWORD": Self.password])
    }

    private var expected: Request {
        .passwordChanged(
            account: "alice", service: "probe",
            password: [UInt8](Self.password.utf8))
    }

    @Test("reports the new password, once, and no answer changes what comes of it")
    func reported() throws {
        let fixture = try fixture()
        for answer in [
            Answer.done(DoneAnswer(keyring: .on)), .denial(Denial(.storage)),
            .passwordWanted(account: AccountName([97])),
        ] {
            let probe = try start(fixture)
            let visit = try fixture.visit()
            #expect(try visit.request() == expected)
            try visit.send(answer)
            #expect(try probe.lines().contains("chauthtok 0"))
            #expect(!fixture.hasVisit)
        }
        let silent = try start(fixture)
        let visit = try fixture.visit()
        _ = try visit.request()
        #expect(try silent.lines().contains("chauthtok 0"), "no answer")
    }

    @Test("reports nothing without a daemon, without a key, or without root, and fails nothing")
    func unreported() throws {
        #expect(try start(try fixture(listens: false)).lines().contains("chauthtok 0"))
        let unregistered = try fixture(isRegistered: false)
        #expect(try start(unregistered).lines().contains("chauthtok 0"))
        #expect(!unregistered.hasVisit)
        let permitting = try fixture(
            "password required pam_permit.so\npassword optional pam_signet.so")
        #expect(try start(permitting, ["euid:4243", "chauthtok"]).lines().contains("chauthtok 0"))
        #expect(try start(permitting).lines().contains("chauthtok 0"), "there is no new password")
        #expect(!permitting.hasVisit)
    }

    @Test(
        "is no reason for a change to succeed or to fail, whatever its control",
        arguments: ["optional", "required", "requisite", "sufficient", "[default=bad success=ok]"])
    func impartial(control: String) throws {
        let alone = try fixture("password \(control) pam_signet.so")
        let lines = try start(alone).lines()
        #expect(lines.contains { $0.hasPrefix("chauthtok ") } && !lines.contains("chauthtok 0"))
        // A bare default=bad is the administrator's own word about PAM_IGNORE.
        guard !control.hasPrefix("[") else { return }
        let denied = try fixture("password \(control) pam_signet.so\npassword required pam_deny.so")
        #expect(try !start(denied).lines().contains("chauthtok 0"))
        let behind = try fixture(Self.unix + "password \(control) pam_signet.so", listens: false)
        #expect(try start(behind).lines().contains("chauthtok 0"))
    }

    @Test("leaves no copy of the password in the application's memory")
    func wiped() throws {
        let fixture = try fixture(
            Self.unix + "password optional pam_signet.so\nauth required pam_signet.so")
        // Given in the environment, so that only what was copied is looked for.
        let probe = try fixture.start(
            ["chauthtok", "auth"], environment: ["PROBE_PASSWORD": Self.password])
        let change = try fixture.visit()
        _ = try change.request()
        try change.send(.done(DoneAnswer()))
        let visit = try fixture.visit()
        let request = try visit.authenticate()
        let frame = "passwd" + Self.password
        #expect(try !ProcessMemory.holds(frame, in: probe.pid))
        let field = String(decoding: [10, 0, UInt8(Self.password.utf8.count)], as: UTF8.self)
        #expect(try !ProcessMemory.holds(field + Self.password, in: probe.pid))
        try visit.prove(fixture.proof(for: request))
        #expect(try probe.lines().contains("auth 0"))
    }
}
