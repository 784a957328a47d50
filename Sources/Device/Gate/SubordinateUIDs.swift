// SPDX-License-Identifier: Apache-2.0
import Posix
import Synchronization

/// Looks up the owners of subordinate uids, which users may assign to their containers; subuid(5).
///
/// The file is read again whenever it has changed. Malformed lines are ignored, and so are ranges
/// that contain uid 0 or exceed 32 bits. A file that cannot be read, is larger than 1 MiB or is not
/// UTF-8 counts as empty.
package final class SubordinateUIDs: Sendable {
    /// The maximum size of the file in bytes; a longer file is ignored.
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

    /// Creates a lookup in a file.
    package init(path: String = "/etc/subuid") {
        self.path = path
    }

    /// Returns the uid of the user that a uid is assigned to; nil if it is in no range.
    ///
    /// The first range that contains the uid counts. The account database is consulted last, since
    /// most uids are in no range; an owner that is not a known login name may be a uid in decimal.
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

    /// Parses lines of `owner:first:count`, where the owner is a login name or a uid.
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
            // Root's uid cannot be delegated.
            guard !isOver, first > 0 else { return nil }
            return Range(uids: first...last, owner: String(fields[0]))
        }
    }
}
