// SPDX-License-Identifier: Apache-2.0
import DesktopInterface
import LoginProtocol
import Testing

@Suite("a list of fingers that a client was told a moment ago")
struct RecentListsTests {
    private let fingers = RecentLists.List.success([.rightIndex])

    private func lists(at time: Duration = .seconds(10)) -> RecentLists {
        var lists = RecentLists()
        lists.note(fingers, of: "alice", for: ":1.1", at: time)
        return lists
    }

    @Test("is told again to the same client, an error as well")
    func again() {
        #expect(lists().list(of: "alice", for: ":1.1", at: .milliseconds(10_999)) == fingers)
        var lists = lists()
        let refused = RecentLists.List.failure(DesktopFault(.noEnrolledPrints, "none"))
        lists.note(refused, of: "", for: ":1.1", at: .seconds(10))
        #expect(lists.list(of: "", for: ":1.1", at: .seconds(10)) == refused)
        #expect(lists.list(of: "alice", for: ":1.1", at: .seconds(10)) == fingers)
    }

    @Test("is told to no other client, and for no other user")
    func others() {
        #expect(lists().list(of: "alice", for: ":1.2", at: .seconds(10)) == nil)
        #expect(lists().list(of: "bob", for: ":1.1", at: .seconds(10)) == nil)
        #expect(lists().list(of: "", for: ":1.1", at: .seconds(10)) == nil)
    }

    @Test("is forgotten after a second, and after a change of fingers")
    func end() {
        #expect(lists().list(of: "alice", for: ":1.1", at: .seconds(11)) == nil)
        #expect(lists().list(of: "alice", for: ":1.1", at: .seconds(9)) == nil)
        var lists = lists()
        lists.forget()
        #expect(lists.list(of: "alice", for: ":1.1", at: .seconds(10)) == nil)
    }

    @Test("makes room for newer ones, and the newest counts")
    func room() {
        var lists = lists()
        let none = RecentLists.List.success([])
        lists.note(none, of: "alice", for: ":1.1", at: .seconds(10))
        #expect(lists.list(of: "alice", for: ":1.1", at: .seconds(10)) == none)
        for number in 0..<RecentLists.capacity {
            lists.note(none, of: "bob", for: ":2.\(number)", at: .seconds(10))
        }
        #expect(lists.list(of: "alice", for: ":1.1", at: .seconds(10)) == nil)
        #expect(lists.list(of: "bob", for: ":2.0", at: .seconds(10)) == none)
    }
}
