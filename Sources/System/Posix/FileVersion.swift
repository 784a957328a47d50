// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The version of the file at a path, which differs after a change; stat(2).
///
/// A change within one step of the file system's clock is missed if it leaves the size unchanged;
/// `FileStamp` can tell when that is possible.
package struct FileVersion: Equatable, Sendable {
    private let device: UInt
    private let node: UInt
    private let size: Int
    private let modified: Int64
    private let changed: Int64

    /// Inspects a path, following symbolic links; nil if that fails.
    package init?(of path: String) {
        var status = stat()
        guard unsafe fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
        device = UInt(status.st_dev)
        node = UInt(status.st_ino)
        size = Int(status.st_size)
        modified = Self.nanoseconds(status.st_mtim)
        changed = Self.nanoseconds(status.st_ctim)
    }

    /// Returns nanoseconds, which wrap; that is harmless because they are only compared.
    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
