// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Writes entries to the systemd journal, or to standard error if there is none.
package struct Journal: Sendable {
    /// The outcome of writing an entry.
    package enum Outcome: Equatable, Sendable {
        case recorded
        /// There is no journal; the entry was written to standard error as one line.
        case printed
        /// The entry was not stored anywhere, for the reason in this errno.
        case lost(Int32)
    }

    private let foreground: Bool

    /// Creates a journal, which uses standard error only with `foreground`.
    package init(foreground: Bool) {
        self.foreground = foreground
    }

    /// Writes the entry before it returns, with every value byte for byte, newlines included.
    ///
    /// The journal's socket is looked for first, because `sd_journal_sendv(3)` also succeeds
    /// without a journal.
    ///
    /// - Returns: `lost` if there is no journal and `foreground` is not set, or if writing failed.
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

    /// Lays the entry out in one buffer, with a vector for each `NAME=value`.
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
