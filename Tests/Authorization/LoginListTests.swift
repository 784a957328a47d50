// SPDX-License-Identifier: Apache-2.0
import Authorization
import Configuration
import Testing

@Suite("The lists of users who have fingerprint login")
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

    @Test("exclude root if they say nothing of root, under any name, and no other account")
    func standard() throws {
        let lists = LoginLists(Configuration())
        #expect(excluded(lists, "root", uid: 0) == "login.accounts")
        #expect(excluded(lists, "toor", uid: 0) == "login.accounts")
        #expect(excluded(lists, "alice") == nil)
        #expect(lists.groupNames.isEmpty)
        for service in ["sudo", "login", ""] { #expect(lists.exclusion(service: service) == nil) }
    }

    @Test("a name allows login, and then only the listed names do; !name forbids it, and wins")
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

    @Test("every list has to allow the login: what one forbids, no other allows again")
    func together() throws {
        let lists = try lists("accounts = alice, bob", "groups = staff, !guests")
        #expect(lists.groupNames == ["staff", "guests"])
        #expect(excluded(lists, "alice", in: ["staff"]) == nil)
        #expect(excluded(lists, "alice", in: []) == "login.groups")
        #expect(excluded(lists, "alice", in: ["staff", "guests"]) == "login.groups")
        #expect(excluded(lists, "carol", in: ["staff"]) == "login.accounts")
        #expect(excluded(lists, "root", uid: 0, in: ["staff"]) == "login.accounts")
    }

    @Test("groups that cannot be looked up forbid the login, if any group is named")
    func unknownGroups() throws {
        for line in ["groups = staff", "groups = !guests"] {
            #expect(excluded(try lists(line), "alice", in: nil) == "login.groups")
        }
        #expect(excluded(try lists("groups ="), "alice", in: nil) == nil)
    }

    @Test("root may log in if the list of accounts names it, or allows all and does not name root")
    func root() throws {
        #expect(excluded(try lists("accounts = root, alice"), "root", uid: 0) == nil)
        #expect(excluded(try lists("accounts ="), "root", uid: 0) == nil)
        #expect(excluded(try lists("accounts = !bob, !root"), "toor", uid: 0) != nil)
    }

    @Test("services are allowed and forbidden in the same way")
    func services() throws {
        let only = try lists("services = sudo, polkit-1")
        #expect(only.exclusion(service: "sudo") == nil)
        for other in ["login", "sudo-i", ""] {
            #expect(only.exclusion(service: other)?.name == "login.services")
        }
        let but = try lists("services = !su")
        #expect(but.exclusion(service: "su") != nil && but.exclusion(service: "su-l") == nil)
    }

    @Test("a name in quotes, and each spelling that the name service takes, count as the account's")
    func spellings() throws {
        let quoted = try lists("accounts = !\"corp alice\"")
        #expect(quoted.accountNames == ["corp alice"])
        #expect(
            quoted.exclusion(account: "corp alice", uid: 1000, memberships: [])?.name
                == "login.accounts")
        let other = try lists("accounts = !ALICE")
        #expect(other.exclusion(account: "alice", uid: 1000, memberships: []) == nil)
        #expect(
            other.exclusion(account: "alice", uid: 1000, spellings: ["ALICE"], memberships: [])?
                .name == "login.accounts")
        let only = try lists("accounts = ALICE")
        #expect(
            only.exclusion(account: "alice", uid: 1000, spellings: ["ALICE"], memberships: [])
                == nil)
    }
}
