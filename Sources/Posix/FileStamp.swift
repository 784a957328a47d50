// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What tells whether a name still stands for the same file with the same content, without reading it.
///
/// A file that is replaced has another inode. One that is written in place, truncated, or given other
/// permissions has another change time, which no call sets to a chosen value: utimensat(2) sets the
/// modification time, and the change time to now.
package struct FileStamp: Equatable, Sendable {
    /// Which file it is, and who may do what with it.
    package struct Identity: Equatable, Sendable {
        let device: UInt64, inode: UInt64
        let mode: UInt32, owner: UInt32
    }

    /// All that matters of a directory that is known to be the same: what lies in it has stamps.
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

    /// Whether a change after `moment` shows.
    ///
    /// The kernel gives files the time of its last tick, up to 10 ms ago: a second change in the same
    /// tick would leave the time as it is, and a file replaced twice may have its first inode again.
    /// So what changed in the tick of `moment`, or seems to have changed later, tells nothing.
    package func isSettled(at moment: FileMoment) -> Bool { max(modified, changed) < moment.tick }
}

/// The kernel's present tick, as files get it; clock_gettime(2) CLOCK_REALTIME_COARSE.
package struct FileMoment: Sendable {
    /// In nanoseconds since 1970.
    let tick: Int64

    /// Now.
    package static func now() -> FileMoment {
        var time = timespec()
        // The clock cannot fail on a kernel that runs this program.
        _ = unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return FileMoment(tick: time.nanoseconds)
    }
}

extension timespec {
    /// Whole nanoseconds; wraps after the year 2262.
    fileprivate var nanoseconds: Int64 { Int64(tv_sec) &* 1_000_000_000 &+ Int64(tv_nsec) }
}

extension FileStamp {
    /// The stamp of what has an absolute path, a symbolic link itself; nil where nothing has it, or it
    /// cannot be told. lstat(2)
    package init?(ofFileAt path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }
}

extension Directory {
    /// The stamp of what has this name, a symbolic link itself; nil where nothing has it. fstatat(2)
    package func stamp(_ name: String) throws(FileFault) -> FileStamp? {
        try checkName(name)
        var status = stat()
        let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        guard code == 0 || errno == ENOENT else { throw failed("fstatat", name) }
        return code == 0 ? FileStamp(status) : nil
    }

    /// The stamp of this directory itself, wherever it is by now; fstat(2).
    package func stampOfSelf() throws(FileFault) -> FileStamp {
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw failed("fstat", "") }
        return FileStamp(status)
    }
}
