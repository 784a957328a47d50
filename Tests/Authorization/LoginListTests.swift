// SPDX-License-Identifier: Apache-2.0
import Authorization
import Configuration
import Testing

@Suite("The lists of who has fingerprint login")
struct LoginListTests {
    private func lists(_ lines: String...) throws -> LoginLists {
        let text = "[login]\n" + lines.joined(separator: "\n")
        return LoginLists(try Configuration(files: [("a.conf", [UInt8](text.utf8))]))
    }

    private func excluded(
        _ lists: LoginLists, _ account: String, uid: UInt32 = 1_000, in groups: Set<String>? = []
    ) -> String? {
        lists.exclusion(account: account, uid: uid, memberships: groups)?.name
    }

    @Test("keep root out where nothing is said, by whatever name, and nobody else")
    func standard() throws {
        let lists = LoginLists(Configuration())
        #expect(excluded(lists, "root", uid: 0) == "login.accounts")
        #expect(excluded(lists, "toor", uid: 0) == "login.accounts")
        #expect(excluded(lists, "alice") == nil)
        #expect(lists.groupNames.isEmpty)
        for service in ["sudo", "login", ""] { #expect(lists.exclusion(service: service) == nil) }
    }

    @Test("a name lets in, and then only such names; !name keeps out, and wins")
    func names() {
        #expect(NameList([]).admits(["x"]) && NameList([]).admits([]))
        #expect(NameList(["a"]).admits(["a"]) && !NameList(["a"]).admits(["b"]))
        #expect(!NameList(["a"]).admits([]) && !NameList(["a"]).admits(["A"]))
        #expect(NameList(["!a"]).admits(["b"]) && !NameList(["!a"]).admits(["a"]))
        #expect(NameList(["!a"]).admits([]))
        #expect(
            !NameList(["a", "!a"]).admits(["a"]) && !NameList(["a", "!b"]).admits(["a", "b"]))
        #expect(!NameList(["a", "!b"]).admits(["c"]))
    }

    @Test("each list has to let in: what one keeps out, no other lets in again")
    func together() throws {
        let lists = try lists("accounts = alice, bob", "groups = staff, !guests")
        #expect(lists.groupNames == ["staff", "guests"])
        #expect(excluded(lists, "alice", in: ["staff"]) == nil)
        #expect(excluded(lists, "alice", in: []) == "login.groups")
        #expect(excluded(lists, "alice", in: ["staff", "guests"]) == "login.groups")
        #expect(excluded(lists, "carol", in: ["staff"]) == "login.accounts")
        #expect(excluded(lists, "root", uid: 0, in: ["staff"]) == "login.accounts")
    }

    @Test("groups that cannot be found out keep out, where any is named")
    func unknownGroups() throws {
        for line in ["groups = staff", "groups = !guests"] {
            #expect(excluded(try lists(line), "alice", in: nil) == "login.groups")
        }
        #expect(excluded(try lists("groups ="), "alice", in: nil) == nil)
    }

    @Test("root is let in where the list of accounts says so, or says nothing of root")
    func root() throws {
        #expect(excluded(try lists("accounts = root, alice"), "root", uid: 0) == nil)
        #expect(excluded(try lists("accounts ="), "root", uid: 0) == nil)
        #expect(excluded(try lists("accounts = !bob, !root"), "toor", uid: 0) != nil)
    }

    @Test("services are let in and kept out in the same way")
    func services() throws {
        let only = try lists("services = sudo, polkit-1")
        #expect(only.exclusion(service: "sudo") == nil)
        for other in ["login", "sudo-i", ""] {
            #expect(only.exclusion(service: other)?.name == "login.services")
        }
        let but = try lists("services = !su")
        #expect(but.exclusion(service: "su") != nil && but.exclusion(service: "su-l") == nil)
    }
}
