// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import PasswordCheck

@Suite("a password check")
struct PasswordCheckTests {
    @Test("takes the right password, of no bytes more or less")
    func right() throws {
        #expect(try Check.verdict("alice", AccountFiles.password) == .right)
        #expect(try Check.verdict("lines", AccountFiles.withNewlines) == .right)
    }

    @Test(
        "refuses any other",
        arguments: [
            "", "right pas", "right pass ", "right pass\n", "Right pass", "\nright pass",
            "right pass\0", "right pass\0x", "\0", String(repeating: "x", count: 1024),
        ])
    func wrong(_ password: String) throws {
        #expect(try Check.verdict("alice", password) == .wrong)
    }

    @Test(
        "refuses an over-long one, also where its beginning is right", arguments: [1025, 100_000])
    func overLong(_ count: Int) throws {
        let password = AccountFiles.password + String(repeating: "\n", count: count - 10)
        #expect(try Check.verdict("alice", password) == .wrong)
    }

    @Test("refuses an account without a password, and one that has none to match")
    func blank() throws {
        #expect(try Check.verdict("blank", "") == .wrong)
        #expect(try Check.verdict("starless", "*") == .wrong)
        #expect(try Check.verdict("locked", AccountFiles.password) == .wrong)
    }

    @Test("denies an account that may not log in, even with the right password")
    func denied() throws {
        #expect(try Check.verdict("expired", AccountFiles.password) == .accountExpired)
        #expect(try Check.verdict("mustchange", AccountFiles.password) == .passwordExpired)
        // Who does not know the password learns nothing of it.
        #expect(try Check.verdict("expired", "wrong") == .wrong)
        #expect(try Check.verdict("mustchange", "wrong") == .wrong)
        #expect(try Check.verdict("nobody-here", AccountFiles.password) == .denied)
    }

    @Test("of one account is not passed by the password of another")
    func anothers() throws {
        #expect(try Check.verdict("lines", AccountFiles.password) == .wrong)
    }

    @Test(
        "is not begun for a malformed name",
        arguments: [
            "", "-h", "a:b", "a/b", "a\nb", "a\0", "a\u{7f}", String(repeating: "a", count: 256),
        ])
    func name(_ account: String) throws {
        #expect(throws: PasswordFault.name) { try Check.verdict(account, AccountFiles.password) }
    }

    @Test("takes the right password with no capability at all and no new privileges")
    func noCapabilities() throws {
        let confined = """
            #!/bin/sh
            exec setpriv --no-new-privs --bounding-set -all --inh-caps -all \(Check.program) "$1"
            """
        #expect(try Check.verdict("alice", AccountFiles.password, script: confined) == .right)
        #expect(try Check.verdict("alice", "wrong", script: confined) == .wrong)
        #expect(
            try Check.verdict("expired", AccountFiles.password, script: confined)
                == .accountExpired)
    }

    @Test(
        "is a fault when the program ends in any other way",
        arguments: [
            "exit 0", "exit 1", "exit 2", "exit 127", "kill -KILL $$", "kill -SEGV $$",
            "kill -ABRT $$", "kill -80 $$; exit 208",
        ])
    func otherEnd(_ line: String) throws {
        #expect(try Check.verdict("alice", "x", script: "#!/bin/sh\n\(line)\n") == .fault)
    }

    @Test("is a fault when the program is missing")
    func missing() {
        #expect(throws: PasswordFault.spawn(ENOENT)) {
            try Check.verdict("alice", "x", program: "/nonexistent/verify-password")
        }
    }
}
