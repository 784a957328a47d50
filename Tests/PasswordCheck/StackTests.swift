// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import PasswordCheck

@Suite("a PAM stack for the password")
struct StackTests {
    private static func stack(_ how: String, _ control: String = "optional") -> String {
        "auth \(control) /media/stubborn.so \(how)\n"
    }

    @Test("may speak, and is not asked to be silent")
    func talk() throws {
        let stack = AccountFiles.plain + Self.stack("talk", "required")
        #expect(try Check.verdict("alice", AccountFiles.password, stack: stack) == .right)
        let silent = Self.stack("silent", "required") + AccountFiles.plain
        #expect(try Check.verdict("alice", AccountFiles.password, stack: silent) == .wrong)
    }

    @Test(
        "is refused a second answer and a visible one, even if it then succeeds",
        arguments: ["hidden", "visible"])
    func furtherPrompt(_ how: String) throws {
        let after = AccountFiles.plain + Self.stack(how)
        #expect(try Check.verdict("alice", AccountFiles.password, stack: after) == .fault)
        let before = Self.stack(how) + AccountFiles.plain
        #expect(try Check.verdict("alice", AccountFiles.password, stack: before) == .fault)
    }

    @Test("that changes the account proves nothing")
    func rename() throws {
        for stack in [
            Self.stack("rename") + AccountFiles.plain, AccountFiles.plain + Self.stack("rename"),
        ] {
            #expect(try Check.verdict("alice", AccountFiles.password, stack: stack) == .fault)
        }
    }

    @Test("that leaves or crashes the process proves nothing", arguments: ["leave", "crash"])
    func vanish(_ how: String) throws {
        let stack = Self.stack(how) + AccountFiles.plain
        #expect(try Check.verdict("alice", AccountFiles.password, stack: stack) == .fault)
    }

    @Test("sees no environment and no descriptor of the daemon")
    func inheritance() throws {
        let stack = Self.stack("inherit", "required") + AccountFiles.plain
        #expect(try Check.verdict("alice", AccountFiles.password, stack: stack) == .right)
    }

    @Test("that is missing, another's or writable by others is not replaced by the fallback")
    func untrusted() throws {
        let password = AccountFiles.password
        #expect(try Check.verdict("alice", password, stack: nil) == .fault)
        #expect(try Check.verdict("alice", password, mode: 0o666) == .fault)
        #expect(try Check.verdict("alice", password, mode: 0o664) == .fault)
        #expect(try Check.verdict("alice", password, owner: 4001) == .fault)
    }

    @Test("that never asks for the password proves nothing")
    func unasked() throws {
        let stack = "auth required pam_permit.so\naccount required pam_permit.so\n"
        #expect(try Check.verdict("alice", AccountFiles.password, stack: stack) == .fault)
    }

    @Test(
        "that is empty or broken gives no access",
        arguments: [
            "", "auth required pam_unix.so\n", "auth required pam_absent.so\n", "nonsense\n",
        ])
    func broken(_ stack: String) throws {
        #expect(try Check.verdict("alice", "wrong", stack: stack) != .right)
    }

    @Test("that hangs is ended by force, reveals nothing and leaves no process")
    func hang() throws {
        let (verdict, traces, isGone) = try Check.whileHanging { check, process in
            let traces = try Traces(of: process)
            check.kill()
            return (check.finish(), traces, kill(process, 0) == -1 && errno == ESRCH)
        }
        #expect(verdict == .fault)
        #expect(isGone)
        #expect(traces.commandLine == Check.program + "\0alice\0")
        #expect(traces.environment.isEmpty)
        #expect(traces.status.contains("NoNewPrivs:\t1"))
        #expect(traces.coreLimit == ["0", "0", "bytes"])
    }

    @Test("that hangs ends with the check that is let go of")
    func letGo() throws {
        let isGone = try Check.whileHanging { check, process in
            _ = consume check
            return kill(process, 0) == -1 && errno == ESRCH
        }
        #expect(isGone)
    }
}
