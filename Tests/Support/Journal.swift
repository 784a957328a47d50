// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// One record that a program in a fixture wrote to the journal or to syslog.
package struct JournalEntry: Sendable {
    /// The fields as they were sent; of a syslog line PRIORITY, SYSLOG_FACILITY,
    /// SYSLOG_IDENTIFIER, SYSLOG_PID and MESSAGE.
    package let fields: [String: String]
    /// The sender's uid, from the kernel.
    package let uid: UInt32?
    /// The sender's process id as the machine sees it, from the kernel.
    package let pid: Int32?

    /// MESSAGE, or nothing.
    package var message: String { fields["MESSAGE"] ?? "" }
    /// PRIORITY: 0 (emergency) to 7 (debug).
    package var priority: Int? { fields["PRIORITY"].flatMap(Int.init) }
    /// A field's text.
    package subscript(name: String) -> String? { fields[name] }
}

/// What programs in a fixture logged: the receiving end of `/run/systemd/journal/socket` (native
/// protocol) and of `/dev/log` (RFC 3164, as syslog(3) writes it).
package final class Journal: Sendable {
    private let collector: Collector

    init(root: String) throws(TestFault) {
        let native = try Self.bind("\(root)/run/systemd/journal/socket")
        collector = try Collector(from: native, and: Self.bind("\(root)/dev/log"))
    }

    /// All entries until now, as they came.
    package var entries: [JournalEntry] { collector.chunks.map(Self.entry) }

    /// Waits for the first entry, of all since the fixture stands, that `isWanted` accepts.
    @discardableResult
    package func expect(
        _ awaited: String, within limit: Duration = .patience,
        _ isWanted: (JournalEntry) -> Bool
    ) throws(TestFault) -> JournalEntry {
        let found = collector.first(within: limit) { chunks, _ in
            chunks.map(Self.entry).first(where: isWanted)
        }
        if let found { return found }
        let came = entries.map { "\($0.fields)" }.joined(separator: "\n")
        throw .deadline(awaited: "\(awaited) in the journal", transcript: came)
    }

    private static func entry(_ chunk: Chunk) -> JournalEntry {
        chunk.source == 0 ? nativeEntry(chunk) : syslogEntry(chunk)
    }

    private static func bind(_ path: String) throws(TestFault) -> Descriptor {
        try Descriptor(unsafe path.withCString { unsafe bind_datagram($0) }, "bind", path)
    }

    /// systemd's native journal protocol: `NAME=value\n`, or `NAME\n`, length (64 bits, little
    /// endian), value, `\n`.
    private static func nativeEntry(_ chunk: Chunk) -> JournalEntry {
        var fields: [String: String] = [:]
        var rest = chunk.bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                fields[text(line[..<equals])] = text(line[(equals + 1)...])
            } else if rest.count >= 8 {
                let length = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                rest = rest.dropFirst(8)
                guard length < rest.count else { break }
                fields[text(line)] = text(rest.prefix(Int(length)))
                rest = rest.dropFirst(Int(length) + 1)
            }
        }
        return JournalEntry(fields: fields, uid: chunk.sender?.uid, pid: chunk.sender?.pid)
    }

    /// `<priority>Mmm dd hh:mm:ss identifier[pid]: message`.
    private static func syslogEntry(_ chunk: Chunk) -> JournalEntry {
        var line = text(chunk.bytes.prefix { $0 != 0 })[...]
        var fields: [String: String] = [:]
        if line.first == "<", let end = line.firstIndex(of: ">"),
            let code = Int(line[line.index(after: line.startIndex)..<end])
        {
            fields["PRIORITY"] = "\(code & 7)"
            fields["SYSLOG_FACILITY"] = "\(code >> 3)"
            line = line[end...].dropFirst(1 + 16)
        }
        if let colon = line.firstRange(of: ": ") {
            let parts = line[..<colon.lowerBound].split(whereSeparator: { "[]".contains($0) })
            fields["SYSLOG_IDENTIFIER"] = parts.first.map(String.init)
            fields["SYSLOG_PID"] = parts.dropFirst().first.map(String.init)
            line = line[colon.upperBound...]
        }
        fields["MESSAGE"] = String(line)
        return JournalEntry(fields: fields, uid: chunk.sender?.uid, pid: chunk.sender?.pid)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
