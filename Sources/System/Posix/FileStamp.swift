// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Identifies a file and its content without reading it, to notice when either changes.
///
/// A file that is replaced has another inode. One that is written in place, truncated or given
/// other permissions has another change time, which no call can set to a chosen value: utimensat(2)
/// sets the modification time, and the change time to now.
package struct FileStamp: Equatable, Sendable {
    /// The file's identity, and who may access it.
    package struct Identity: Equatable, Sendable {
        let device: UInt64, inode: UInt64
        let mode: UInt32, owner: UInt32
    }

    /// All that needs comparing for a directory: the entries have stamps of their own.
    package let identity: Identity
    let size: Int
    /// In nanoseconds since 1970.
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
    /// within the same tick leaves the time as it is, and a file that is replaced twice may get its
    /// first inode back. A stamp from the tick of `moment`, or from a later one, therefore proves
    /// nothing.
    package func isSettled(at moment: FileMoment) -> Bool { max(modified, changed) < moment.tick }
}

/// The kernel's current tick, as it stamps files; clock_gettime(2) CLOCK_REALTIME_COARSE.
package struct FileMoment: Sendable {
    /// In nanoseconds since 1970.
    let tick: Int64

    /// The current tick.
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
    /// The stamp of an absolute path, of a symbolic link itself; nil if it cannot be inspected.
    /// lstat(2)
    package init?(ofFileAt path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension Directory {
    /// The stamp of an entry, of a symbolic link itself; nil if there is none. fstatat(2)
    package func stamp(_ name: String) throws(FileFault) -> FileStamp? {
        try checkName(name)
        var status = stat()
        let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        guard code == 0 || errno == ENOENT else { throw failed("fstatat", name: name) }
        return code == 0 ? FileStamp(status) : nil
    }

    /// The stamp of this directory itself, wherever it has been moved; fstat(2).
    package func stampOfSelf() throws(FileFault) -> FileStamp {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw failed("fstat", name: "") }
        return FileStamp(status)
    }
}
