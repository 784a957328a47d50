// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// Whose the uids are that users may give to their containers; subuid(5).
///
/// Read again when the file has changed. A line that is not understood gives nothing to anybody.
package final class SubordinateUIDs: Sendable {
    /// The longest file that is read; of a longer one nothing is.
    private static let cap = 1 << 20

    private struct Range {
        let uids: ClosedRange<UInt32>
        let owner: String
    }

    private struct Contents {
        var version: FileVersion?
        var ranges: [Range] = []
    }

    private let path: String
    private let contents = Mutex(Contents())

    /// The ranges of a file.
    package init(path: String = "/etc/subuid") {
        self.path = path
    }

    /// The user that a uid was given to, nil if it is in no range. Accounts of the machine are asked
    /// for last, since most uids are in none.
    package func owner(of uid: UInt32) -> UInt32? {
        let name: String? = contents.withLock { contents in
            let version = FileVersion(of: path)
            if version == nil || version != contents.version {
                contents = Contents(version: version, ranges: Self.ranges(in: path))
            }
            return contents.ranges.first { $0.uids.contains(uid) }?.owner
        }
        guard let name else { return nil }
        if let account = try? Account.named(name) { return account.uid }
        return UInt32(name)
    }

    /// Lines of `owner:first:count`, where the owner is a name or a number.
    private static func ranges(in path: String) -> [Range] {
        guard let bytes = try? readFile(path, cap: cap), bytes.count <= cap,
            let text = String(validating: bytes, as: UTF8.self)
        else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 3, !fields[0].isEmpty, let first = UInt32(fields[1]),
                let count = UInt32(fields[2]), count > 0
            else { return nil }
            let (last, isOver) = first.addingReportingOverflow(count - 1)
            // Nobody can give root away.
            guard !isOver, first > 0 else { return nil }
            return Range(uids: first...last, owner: String(fields[0]))
        }
    }
}
