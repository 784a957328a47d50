// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Where entries go: the journal, or a terminal when there is none.
package struct Journal: Sendable {
    /// What became of an entry.
    package enum Outcome: Equatable, Sendable {
        case recorded
        /// No journal here: written to standard error as one line.
        case printed
        /// Not kept anywhere, with the errno.
        case lost(Int32)
    }

    private let foreground: Bool

    /// A journal that falls back to standard error only in the foreground.
    package init(foreground: Bool) {
        self.foreground = foreground
    }

    /// Records the entry before it returns, every value byte for byte, newlines included.
    ///
    /// Source: `sd_journal_sendv(3)`, whose success does not tell that a journal was there.
    @discardableResult
    package func send(_ entry: JournalEntry) -> Outcome {
        guard Self.isPresent else { return foreground ? Self.print(entry) : .lost(ENOENT) }
        let status = unsafe Self.withVectors(of: entry) { vectors in
            unsafe sd_journal_sendv(vectors.baseAddress, Int32(vectors.count))
        }
        return status < 0 ? .lost(-status) : .recorded
    }

    private static var isPresent: Bool {
        unsafe access("/run/systemd/journal/socket", W_OK) == 0
    }

    private static func print(_ entry: JournalEntry) -> Outcome {
        let line = Array(entry.line.utf8)
        let written = unsafe line.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        return written == line.count ? .printed : .lost(written < 0 ? errno : EIO)
    }

    /// Lays the entry out as one buffer with a vector for each `NAME=value`.
    private static func withVectors(
        of entry: JournalEntry, _ body: (UnsafeBufferPointer<iovec>) -> Int32
    ) -> Int32 {
        var bytes: [UInt8] = []
        var ranges: [Range<Int>] = []
        for field in entry.fields {
            let start = bytes.count
            bytes += field.name.utf8
            bytes.append(UInt8(ascii: "="))
            bytes += field.value.utf8
            ranges.append(start..<bytes.count)
        }
        return unsafe bytes.withUnsafeMutableBytes { memory in
            let vectors = unsafe ranges.map { range in
                unsafe iovec(
                    iov_base: memory.baseAddress?.advanced(by: range.lowerBound),
                    iov_len: range.count)
            }
            return unsafe vectors.withUnsafeBufferPointer(body)
        }
    }
}
