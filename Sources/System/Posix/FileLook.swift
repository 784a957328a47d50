// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The attributes of a file, for a caller that only reports them; lstat(2) or stat(2).
///
/// Unlike `Directory` and `TrustedFile`, this makes no trust checks, and a file may be replaced
/// after it was inspected. Never use it as a check before a file is used.
package struct FileLook: Equatable, Sendable {
    /// The kinds of file that are distinguished.
    package enum Kind: Equatable, Sendable {
        case file, directory, link, socket, device, other
    }

    /// The file's kind.
    package let kind: Kind
    /// The owner's uid.
    package let owner: UInt32
    /// The group's id.
    package let group: UInt32
    /// The permission bits, 0 to 0o7777.
    package let permissions: UInt32
    /// The number of hard links.
    package let links: UInt64
    /// The size of a regular file in bytes.
    package let size: Int64
    /// The modification time, in seconds since 1970.
    package let modified: Int64

    /// Inspects a path; nil if nothing is there or it cannot be inspected.
    ///
    /// - Parameter following: Whether to inspect the target of a symbolic link instead of the link.
    package init?(_ path: String, following: Bool = false) {
        var status = stat()
        let flags = following ? 0 : AT_SYMLINK_NOFOLLOW
        guard unsafe fstatat(AT_FDCWD, path, &status, flags) == 0 else { return nil }
        self.init(status)
    }

    /// Whether no entry exists at a path, as far as the caller has access; lstat(2).
    ///
    /// The result is false if that cannot be determined, such as when the caller may not search one
    /// of the directories.
    package static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    private init(_ status: stat) {
        switch status.st_mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): kind = .file
        case UInt32(S_IFDIR): kind = .directory
        case UInt32(S_IFLNK): kind = .link
        case UInt32(S_IFSOCK): kind = .socket
        case UInt32(S_IFCHR), UInt32(S_IFBLK): kind = .device
        default: kind = .other
        }
        owner = status.st_uid
        group = status.st_gid
        permissions = status.st_mode & 0o7777
        links = UInt64(status.st_nlink)
        size = Int64(status.st_size)
        modified = Int64(status.st_mtim.tv_sec)
    }

    /// Returns the creation time of a path, statx(2), in seconds since 1970.
    ///
    /// The result is nil if the file system does not record it, or the path cannot be inspected.
    package static func birth(of path: String) -> Int64? {
        var status = statx()
        let mask = UInt32(STATX_BTIME)
        guard unsafe statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, mask, &status) == 0,
            status.stx_mask & mask != 0
        else { return nil }
        return status.stx_btime.tv_sec
    }

    /// Reads at most `cap` bytes from the start of a regular file; nil for anything else.
    ///
    /// Symbolic links are followed. The call does not wait, even if the path names a FIFO or a
    /// device.
    package static func beginning(of path: String, cap: Int) -> [UInt8]? {
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let opened = retryingInterrupted { unsafe open(path, flags) }
        guard opened >= 0 else { return nil }
        let file = Descriptor(adopting: opened)
        guard let status = try? FileStatus(of: file, name: path),
            status.mode & UInt32(S_IFMT) == UInt32(S_IFREG)
        else { return nil }
        return try? readBeginning(file, count: cap, name: path)
    }

    /// Lists the names in a directory, sorted, without `.` and `..`; nil if it cannot be read.
    ///
    /// At most `cap` names are read: the first in the directory's own order.
    package static func names(in path: String, cap: Int) -> [String]? {
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK
        let opened = unsafe open(path, flags)
        guard opened >= 0 else { return nil }
        guard let stream = unsafe fdopendir(opened) else {
            _ = close(opened)
            return nil
        }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while names.count < cap, let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { characters in
                    unsafe String(cString: characters)
                }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Returns the target of a symbolic link; nil if the path is not one.
    package static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe readlink(path, start, bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Returns the type of the file system that contains a path, as numbered by statfs(2).
    package static func fileSystem(of path: String) -> UInt64? {
        var status = statfs()
        guard unsafe statfs(path, &status) == 0 else { return nil }
        return UInt64(UInt32(truncatingIfNeeded: status.f_type))
    }
}

/// Whether the clock is synchronised, ntp_adjtime(3); nil if the kernel does not report it.
package func isClockSynchronised() -> Bool? {
    var times = timex()
    let state = unsafe ntp_adjtime(&times)
    return state < 0 ? nil : state != TIME_ERROR
}
