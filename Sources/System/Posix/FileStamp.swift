// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Identifies a file and its content without reading it, to notice when either changes.
///
/// A file that is replaced has another inode. A file that is written in place, truncated or given
/// other permissions has another change time, which no system call can set to a chosen value:
/// utimensat(2) sets the modification time, and sets the change time to now.
package struct FileStamp: Equatable, Sendable {
    /// The file's identity, owner and mode.
    package struct Identity: Equatable, Sendable {
        let device: UInt64, inode: UInt64
        let mode: UInt32, owner: UInt32
    }

    /// The part to compare for a directory, whose entries have their own stamps.
    package let identity: Identity
    let size: Int
    /// The modification and change times, in nanoseconds since 1970.
    let modified: Int64, changed: Int64

    init(_ status: stat) {
        identity = Identity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), mode: status.st_mode,
            owner: status.st_uid)
        size = Int(status.st_size)
        modified = status.st_mtim.nanoseconds
        changed = status.st_ctim.nanoseconds
    }

    /// Whether any change after `moment` would change this stamp.
    ///
    /// The kernel stamps files with the time of its last tick, up to 10 ms ago. A second change
    /// within the same tick leaves the time unchanged, and a file that is replaced twice may get
    /// its first inode back. So a stamp from the tick of `moment`, or from a later one, proves
    /// nothing, and the result is false.
    package func isSettled(at moment: FileMoment) -> Bool { max(modified, changed) < moment.tick }
}

/// The time of the kernel's current tick, with which it stamps files.
package struct FileMoment: Sendable {
    /// The time in nanoseconds since 1970.
    let tick: Int64

    /// Reads the current tick; clock_gettime(2) CLOCK_REALTIME_COARSE.
    package static func now() -> FileMoment {
        var time = timespec()
        // The clock cannot fail on a kernel that runs this program.
        _ = unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileMoment(tick: time.nanoseconds)
    }
}

extension timespec {
    /// The time in nanoseconds, which wraps after the year 2262.
    fileprivate var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

extension FileStamp {
    /// Takes the stamp of an absolute path, lstat(2); nil if it cannot be inspected.
    ///
    /// For a symbolic link, it is the stamp of the link itself.
    package init?(ofFileAt path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension Directory {
    /// Takes the stamp of an entry, fstatat(2), of a symbolic link itself; nil if there is none.
    package func stamp(_ name: String) throws(FileFault) -> FileStamp? {
        try checkName(name)
        var status = stat()
        let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        guard code == 0 || errno == ENOENT else { throw failed("fstatat", name: name) }
        return code == 0 ? FileStamp(status) : nil
    }

    /// Takes the stamp of this directory itself, even if it has been moved; fstat(2).
    package func stampOfSelf() throws(FileFault) -> FileStamp {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw failed("fstat", name: "") }
        return FileStamp(status)
    }
}
