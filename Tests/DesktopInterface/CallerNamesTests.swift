// SPDX-License-Identifier: Apache-2.0
import DesktopInterface
import Testing

@Suite("the users of clients that have called") struct CallerNamesTests {
    @Test("are known by their clients' unique names, and by those alone")
    func names() {
        var names = CallerNames()
        #expect(names.uid(of: ":1.7") == nil)
        names.note(":1.7", uid: 1_000)
        names.note(":1.70", uid: 0)
        names.note("org.example.Desktop", uid: 1_000)
        #expect(names.uid(of: ":1.7") == 1_000)
        #expect(names.uid(of: ":1.70") == 0)
        for other in ["", ":1", ":1.71", ":1.7 ", "org.example.Desktop"] {
            #expect(names.uid(of: other) == nil, "\(other)")
        }
    }

    @Test("are forgotten when there are too many, the oldest first")
    func capacity() {
        var names = CallerNames()
        for number in 0...CallerNames.capacity { names.note(":1.\(number)", uid: UInt32(number)) }
        #expect(names.uid(of: ":1.0") == nil)
        for number in 1...CallerNames.capacity {
            #expect(names.uid(of: ":1.\(number)") == UInt32(number))
        }
        // One that is noted again takes no place.
        names.note(":1.2", uid: 2)
        #expect(names.uid(of: ":1.1") == 1)
    }
}
