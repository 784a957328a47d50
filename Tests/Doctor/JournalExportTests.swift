// SPDX-License-Identifier: Apache-2.0
import CommandMessages
import CommandProtocol
import Configuration
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

@testable import Doctor

@Suite("what the journal has")
struct JournalExportTests {
    private let two = """
        __REALTIME_TIMESTAMP=1795195440000000
        PRIORITY=1
        MESSAGE=fingerprint login refused

        __REALTIME_TIMESTAMP=1795195450000000
        PRIORITY=4
        MESSAGE=later


        """

    @Test("is read entry by entry, also fields with line ends in them")
    func entries() {
        let entries = JournalExport.entries(Array(two.utf8))
        #expect(entries.map(\.seconds) == [1_795_195_440, 1_795_195_450])
        #expect(entries.map(\.priority) == [1, 4])
        let binary =
            Array("MESSAGE\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("a\nb\nPRIORITY=2\n\n".utf8)
        #expect(JournalExport.entries(binary).map(\.message) == [Array("a\nb".utf8)])
        #expect(JournalExport.entries(binary).map(\.priority) == [2])
    }

    @Test("that is cut short, or lies about a length, ends there")
    func broken() {
        for length in 0..<two.utf8.count {
            _ = JournalExport.entries(Array(two.utf8.prefix(length)))
        }
        let lie = Array("MESSAGE\n".utf8) + [UInt8](repeating: 255, count: 8) + Array("x\n".utf8)
        #expect(JournalExport.entries(lie) == [])
    }

    @Test("alerts are a warning, others a note, and none of both is nothing")
    func findings() throws {
        var bare = try Bare()
        let text = Array(two.utf8)
        bare.machine.journal = { .said($0.contains("alert") ? text : []) }
        #expect(bare.codes() == ["journal-alert"])
        bare.machine.journal = { .said($0.contains("alert") ? [] : text) }
        #expect(bare.codes() == ["journal-failures"])
    }

    @Test("is reported once if it could not be read in time, with what was read")
    func unread() throws {
        var bare = try Bare()
        bare.machine.journal = { _ in .unfinished }
        #expect(bare.codes() == ["journal-unread"])
        let text = Array(two.utf8)
        bare.machine.journal = { $0.contains("alert") ? .unfinished : .said(text) }
        #expect(bare.codes() == ["journal-unread", "journal-failures"])
    }
}
