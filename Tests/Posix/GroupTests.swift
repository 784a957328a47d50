// SPDX-License-Identifier: Apache-2.0
import Posix
import Testing

@Suite("groups of an account")
struct GroupTests {
    private func account(_ name: String) throws -> Account {
        try #require(try Account.named(name))
    }

    @Test("are the primary one and those that list it, of the names that are asked for")
    func memberships() throws {
        let daemon = try account("daemon")
        let found = try Group.memberships(
            of: daemon, among: ["daemon", "root", "no-such-group", "", "x\0y"])
        #expect(found == ["daemon"])
        #expect(try Group.memberships(of: daemon, among: []) == [])
        #expect(try Group.number(of: "root") == 0)
        #expect(try Group.number(of: "no-such-group") == nil)
        #expect(try Group.numbers(of: account("root")).contains(0))
    }
}
