// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes
import Testing

@testable import Systemd

/// Serialised: libsystemd keeps one journal socket for the process.
@Suite("the journal", .serialized)
struct JournalTests {
    private let entry = JournalEntry(
        MessageID(1, low: 2), priority: .warning, message: "two\nlines",
        fields: ["SIGNET_PURPOSE": "x\nPRIORITY=0\nMESSAGE=forged"]
    )

    @Test("receives every value byte for byte, newlines included")
    func send() throws {
        let (outcome, datagram) = try PrivateThread.run { [entry] in
            try PrivateThread.cover("/run")
            for directory in ["/run/systemd", "/run/systemd/journal"] {
                unsafe mkdir(directory, 0o755)
            }
            let listener = try DatagramListener(path: "/run/systemd/journal/socket")
            let outcome = Journal(foreground: true).send(entry)
            return (outcome, listener.receive())
        }
        #expect(outcome == .recorded)
        let fields = try #require(NativeProtocol.fields(of: datagram))
        #expect(fields == entry.fields)
    }

    @Test("is distinguished from no journal: nothing is claimed to be recorded")
    func absent() throws {
        let outcome = try PrivateThread.run { [entry] in
            try PrivateThread.cover("/run")
            return Journal(foreground: false).send(entry)
        }
        #expect(outcome == .lost(ENOENT))
    }

    @Test("is replaced by one line on standard error in the foreground")
    func fallback() throws {
        let (outcome, text) = try PrivateThread.run(privateDescriptors: true) { [entry] in
            try PrivateThread.cover("/run")
            var ends: [Int32] = [-1, -1]
            _ = unsafe pipe(&ends)
            dup2(ends[1], 2)
            let outcome = Journal(foreground: true).send(entry)
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe read(ends[0], &buffer, buffer.count)
            return (outcome, String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
        }
        #expect(outcome == .printed)
        #expect(text == entry.line)
        #expect(text.split(separator: "\n").count == 1)
    }
}

/// journald's datagram format, read independently of libsystemd.
private enum NativeProtocol {
    static func fields(of datagram: [UInt8]) -> [JournalEntry.Field]? {
        var rest = datagram[...]
        var fields: [JournalEntry.Field] = []
        while !rest.isEmpty {
            guard let end = rest.firstIndex(of: 0x0a) else { return nil }
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if let sign = line.firstIndex(of: UInt8(ascii: "=")) {
                fields.append(field(line[..<sign], line[(sign + 1)...]))
                continue
            }
            guard rest.count >= 8 else { return nil }
            let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            guard rest.count > count else { return nil }
            fields.append(field(line, rest.prefix(count)))
            rest = rest.dropFirst(count + 1)
        }
        return fields
    }

    private static func field(
        _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
    ) -> JournalEntry.Field {
        JournalEntry.Field(
            name: String(decoding: name, as: UTF8.self),
            value: String(decoding: value, as: UTF8.self))
    }
}
