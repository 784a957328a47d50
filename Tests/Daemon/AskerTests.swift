import Posix
import Testing
import Wire

@testable import Daemon

@Suite("who is named to whoever waits")
struct AskerTests {
    private let alice = Account(name: "alice", uid: 1_000, gid: 1_000, home: "/")

    private func asker(
        _ purpose: String = "sudo apt upgrade", requester: String = "alice", uid: UInt32 = 0,
        account: Account? = nil
    ) -> Asker {
        let account = account ?? alice
        return Asker(
            AuthenticateRequest(
                account: Bytes(account.name.utf8), challenge: [], service: Bytes("sudo".utf8),
                terminal: Bytes("/dev/pts/3".utf8), requester: Bytes(requester.utf8),
                purpose: Bytes(purpose.utf8), timeoutMilliseconds: 1, maximumTries: 1),
            account, PeerCredentials(pid: 1, uid: uid, gid: 0))
    }

    private func name(_ asker: Asker, for other: Asker) -> String {
        String(decoding: asker.name(for: other), as: UTF8.self)
    }

    @Test("the same person is told what is confirmed, at whichever of their terminals")
    func same() {
        #expect(name(asker(), for: asker("su bob")) == "sudo apt upgrade (alice, pts/3)")
        #expect(name(asker(), for: asker(requester: "", uid: 1_000)).hasPrefix("sudo apt"))
    }

    // Not who asks for the same account, not who gave only its name, not another account's program.
    @Test("nobody else is told another's command line")
    func others() {
        let bob = Account(name: "bob", uid: 1_001, gid: 1_001, home: "/")
        let others = [
            asker("su alice", requester: "mallory"), asker(requester: ""),
            asker(requester: "", uid: 1_001, account: bob), Asker("signet verify (alice)"),
        ]
        for other in others { #expect(name(asker(), for: other) == "sudo (alice, pts/3)") }
        // Nor does anybody know who is behind a request that names nobody.
        #expect(name(asker(requester: ""), for: asker(requester: "")) == "sudo (alice, pts/3)")
        #expect(name(Asker("signet verify (alice)"), for: asker()) == "signet verify (alice)")
    }

    @Test("a long or hostile purpose is cut and escaped, and who it is stays")
    func hostile() {
        let long = "sudo evil " + String(repeating: "\u{1B}\u{202E}", count: 100) + " end"
        let told = name(asker(long), for: asker())
        #expect(told.hasPrefix("sudo evil \\x1b") && told.hasSuffix(" end (alice, pts/3)"))
        #expect(told.contains(" … ") && told.utf8.count < 300)
        #expect(name(asker(""), for: asker()) == "sudo (alice, pts/3)")
    }
}
