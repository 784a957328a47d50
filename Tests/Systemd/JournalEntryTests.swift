// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import Systemd

@Suite("a journal entry")
struct JournalEntryTests {
    private let kind = MessageID(0x1, low: 0xabcd)

    @Test("carries message, priority, identifier and kind")
    func fixedFields() {
        let entry = JournalEntry(
            kind, priority: .notice, message: "let in", fields: ["SIGNET_ACCOUNT": "alice"])
        #expect(
            entry.fields.map(\.name) == [
                "MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "MESSAGE_ID", "SIGNET_ACCOUNT",
            ])
        #expect(
            entry.fields.map(\.value) == [
                "let in", "5", "signetd", "0000000000000001000000000000abcd", "alice",
            ])
    }

    @Test(
        "takes a field name of the journal's form",
        arguments: ["A", "SIGNET_ACCOUNT", "A1_", String(repeating: "A", count: 64)])
    func goodName(_ name: String) {
        #expect(JournalEntry.isName(name))
    }

    @Test(
        "puts a field of any other name aside, with its value",
        arguments: [
            "", "_UID", "1A", "lower", "A B", "A=B", "A\nMESSAGE", "Ä",
            String(repeating: "A", count: 65), "MESSAGE", "PRIORITY", "MESSAGE_ID",
            "SYSLOG_IDENTIFIER",
        ])
    func badName(_ name: String) throws {
        let entry = JournalEntry(kind, priority: .info, message: "m", fields: [name: "v"])
        let field = try #require(entry.fields.last)
        #expect(field.name == "SIGNET_REFUSED_FIELD")
        #expect(field.value == name + "=v")
    }

    @Test("cuts a value over the limit")
    func longValue() {
        let entry = JournalEntry(
            kind, priority: .info, message: String(repeating: "x", count: 100_000))
        #expect(entry.fields.first?.value.utf8.count == JournalEntry.valueLimit)
    }

    @Test("is one line of text whatever its values hold")
    func line() {
        let entry = JournalEntry(
            kind, priority: .error, message: "a\nb\u{1b}[31m",
            fields: ["X": "c\r\nPRIORITY=0\u{9b}\u{2028}\\é"])
        #expect(
            entry.line
                == "signetd: a\\x0ab\\x1b[31m PRIORITY=3"
                + " X=c\\x0d\\x0aPRIORITY=0\\x9b\\x2028\\x5cé\n")
    }
}
