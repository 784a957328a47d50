// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Gate

@Suite("the requester that waiting requests are shown")
struct AskerTests {
    private func asker(_ purpose: String = "sudo apt upgrade", by uid: UInt32 = 1_000) -> Asker {
        Asker(
            service: "sudo", terminal: Bytes("/dev/pts/3".utf8),
            purpose: Bytes(purpose.utf8),
            by: Requester(
                uid: uid, name: AccountName(Bytes(uid == 1_000 ? "alice".utf8 : "mallory".utf8))))
    }

    private func name(_ asker: Asker, for other: Asker) -> String {
        String(decoding: asker.name(for: other), as: UTF8.self)
    }

    @Test("the requester's own requests see what is being confirmed")
    func same() {
        #expect(name(asker(), for: asker("su bob")) == "sudo apt upgrade (alice, pts/3)")
    }

    @Test("other users see the requester, but not the command line")
    func others() {
        #expect(name(asker(), for: asker("su alice", by: 1_001)) == "sudo (alice, pts/3)")
        #expect(name(asker("su alice", by: 1_001), for: asker()) == "sudo (mallory, pts/3)")
        let command = Asker("signet verify", by: Requester(uid: 5, name: "bob"))
        #expect(name(command, for: asker()) == "signet verify (bob)")
    }

    @Test("a long or hostile purpose is cut and escaped, and the requester stays visible")
    func hostile() {
        let long = "sudo evil " + String(repeating: "\u{1B}\u{202E}", count: 100) + " end"
        let told = name(asker(long), for: asker())
        #expect(told.hasPrefix("sudo evil \\x1b") && told.hasSuffix(" end (alice, pts/3)"))
        #expect(told.contains(" … ") && told.utf8.count < 300)
        #expect(name(asker(""), for: asker()) == "sudo (alice, pts/3)")
    }
}
