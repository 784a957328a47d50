// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What a file is, as somebody who only looks sees it; lstat(2) or stat(2).
package struct FileLook: Equatable, Sendable {
    /// The kinds that matter.
    package enum Kind: Equatable, Sendable {
        case file, directory, link, socket, device, other
    }

    /// What it is.
    package let kind: Kind
    /// Whose it is.
    package let owner: UInt32
    /// Its group.
    package let group: UInt32
    /// The permission bits, 0 to 0o7777.
    package let permissions: UInt32
    /// How many names it has.
    package let links: UInt64
    /// When its content was last written, in seconds since 1970.
    package let modified: Int64

    /// Looks at a path, at a symbolic link itself unless `following`; nil where there is nothing,
    /// or it cannot be looked at.
    package init?(_ path: String, following: Bool = false) {
        var status = stat()
        let flags = following ? 0 : AT_SYMLINK_NOFOLLOW
        guard unsafe fstatat(AT_FDCWD, path, &status, flags) == 0 else { return nil }
        self.init(status)
    }

    /// Whether there is nothing at a path, as far as this caller may look; lstat(2).
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
        modified = Int64(status.st_mtim.tv_sec)
    }

    /// When what a path names was made, in seconds since 1970; nil where its file system does not
    /// keep that, or it cannot be looked at. statx(2)
    package static func birth(of path: String) -> Int64? {
        var status = statx()
        let mask = UInt32(STATX_BTIME)
        guard unsafe statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, mask, &status) == 0,
            status.stx_mask & mask != 0
        else { return nil }
        return status.stx_btime.tv_sec
    }

    /// Reads the beginning of a regular file, symbolic links followed, at most `cap` bytes; nil for
    /// anything else. Never waits, whatever the path names.
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

    /// The names in a directory, sorted, `.` and `..` left out; at most `cap`, nil where it cannot
    /// be read.
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

    /// What a symbolic link says; nil where there is none.
    package static func target(of path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            guard let start = bytes.baseAddress else { return -1 }
            return unsafe readlink(path, start, bytes.count)
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// The type of the file system that a path lies on, as statfs(2) numbers it.
    package static func fileSystem(of path: String) -> UInt64? {
        var status = statfs()
        guard unsafe statfs(path, &status) == 0 else { return nil }
        return UInt64(UInt32(truncatingIfNeeded: status.f_type))
    }
}

/// Whether something keeps the clock right; nil where that cannot be asked. ntp_adjtime(3)
package func isClockSynchronised() -> Bool? {
    var times = timex()
    let state = unsafe ntp_adjtime(&times)
    return state < 0 ? nil : state != TIME_ERROR
}
