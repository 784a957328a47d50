// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import SignedFormats

/// An entry of the journal, as far as the doctor needs it.
struct JournalNote: Equatable {
    /// The time in seconds since 1970.
    var seconds: UInt64 = 0
    var priority: UInt64 = 7
    var message: Bytes = []
}

/// The Journal Export Format of systemd, as written by `journalctl -o export`.
enum JournalExport {
    /// Parses all complete entries, in order.
    ///
    /// Parsing stops at a malformed field; the entries before it are returned. Messages are cut to
    /// 300 bytes.
    static func entries(_ text: Bytes) -> [JournalNote] {
        var entries: [JournalNote] = []
        var entry = JournalNote()
        var isBegun = false
        var rest = text[...]
        while let end = rest.firstIndex(of: 10) {
            let line = rest[..<end]
            rest = rest[(end + 1)...]
            if line.isEmpty {
                if isBegun { entries.append(entry) }
                entry = JournalNote()
                isBegun = false
                continue
            }
            isBegun = true
            if let equals = line.firstIndex(of: UInt8(ascii: "=")) {
                entry.take(Bytes(line[..<equals]), Bytes(line[(equals + 1)...]))
            } else if let value = binary(&rest) {
                entry.take(Bytes(line), value)
            } else {
                return entries
            }
        }
        if isBegun { entries.append(entry) }
        return entries
    }

    /// Reads the value of a binary field: its length as 64 bits, little-endian, then its bytes and
    /// LF.
    private static func binary(_ rest: inout ArraySlice<UInt8>) -> Bytes? {
        guard rest.count > 8 else { return nil }
        let length = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let text = rest.dropFirst(8)
        guard length < UInt64(text.count) else { return nil }
        let value = text.prefix(Int(length))
        rest = text.dropFirst(Int(length) + 1)
        return Bytes(value)
    }
}

extension JournalNote {
    fileprivate mutating func take(_ name: Bytes, _ value: Bytes) {
        switch String(decoding: name, as: UTF8.self) {
        case "__REALTIME_TIMESTAMP": seconds = (Decimal.decode(value) ?? 0) / 1_000_000
        case "PRIORITY": priority = Decimal.decode(value) ?? 7
        case "MESSAGE": message = Bytes(value.prefix(300))
        default: break
        }
    }
}
