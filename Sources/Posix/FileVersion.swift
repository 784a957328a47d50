// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Which file a path names, and which content it has: another value after any change of it.
///
/// A change within the clock's step that leaves the length as it is does not show; stat(2).
package struct FileVersion: Equatable, Sendable {
    private let device: UInt
    private let node: UInt
    private let size: Int
    private let modified: Int64
    private let changed: Int64

    /// Looks at a path, symbolic links followed; nil where it cannot be looked at.
    package init?(of path: String) {
        var status = stat()
        guard unsafe fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
        device = UInt(status.st_dev)
        node = UInt(status.st_ino)
        size = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// Wrapping: it is compared and never counted with.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
