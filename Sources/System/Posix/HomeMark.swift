// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What tells an account's home directory from one that is made later at the same path: its inode,
/// and the time at which it was born, which no system call can set.
package struct HomeMark: Equatable, Sendable {
    /// The path, as the name service gives it.
    package let path: [UInt8]
    /// The file system: its type and its id, which it keeps as long as it exists.
    package let filesystem: [UInt8]
    package let inode: UInt64
    /// The time of birth in nanoseconds since 1970.
    package let born: UInt64

    /// Describes a directory by its values.
    package init(path: [UInt8], filesystem: [UInt8], inode: UInt64, born: UInt64) {
        self.path = path
        self.filesystem = filesystem
        self.inode = inode
        self.born = born
    }

    /// Whether both are one directory, wherever it is now.
    package func isSame(as other: HomeMark) -> Bool {
        filesystem == other.filesystem && inode == other.inode && born == other.born
    }

    /// Whether another directory is now where this one was, on the same file system.
    package func isReplaced(by other: HomeMark) -> Bool {
        path == other.path && filesystem == other.filesystem && !isSame(as: other)
    }

    /// Looks at an account's home directory; nil if that shows nothing.
    ///
    /// That is so if the directory is missing or not the account's own, as a mount point is before
    /// its file system is mounted, if its path has symbolic links, and on file systems that keep no
    /// time of birth or may make the caller wait: only file systems on this machine's disks, and in
    /// its memory, are looked at. Needs no right but to search the directories above it, and opens
    /// nothing for reading.
    package init?(of account: Account) {
        let path = Array(account.home.utf8)
        guard path.first == UInt8(ascii: "/"), path.count < 4_096,
            let table = try? readFile("/proc/self/mountinfo", cap: 1 << 22),
            let mount = Self.mount(of: path, in: table), Self.local.contains(mount.type),
            let directory = Self.open(path)
        else { return nil }
        var status = stat()
        var birth = statx()
        var system = statfs()
        let number = directory.number
        guard unsafe fstat(number, &status) == 0, status.st_uid == account.uid,
            status.st_mode & S_IFMT == S_IFDIR,
            unsafe statx(number, "", Int32(AT_EMPTY_PATH), UInt32(STATX_BTIME), &birth) == 0,
            birth.stx_mask & UInt32(STATX_BTIME) != 0, birth.stx_btime.tv_sec > 0,
            unsafe fstatfs(number, &system) == 0
        else { return nil }
        var identity = "\(mount.type) \(system.f_fsid.__val.0) \(system.f_fsid.__val.1)"
        if Self.fleeting.contains(mount.type) {
            // Numbers of such file systems are used again after a start of the machine.
            guard let boot = try? Clock.system.boot() else { return nil }
            identity += " \(status.st_dev) \(boot)"
        }
        self.init(
            path: path, filesystem: Array(identity.utf8), inode: UInt64(status.st_ino),
            born: UInt64(birth.stx_btime.tv_sec) &* 1_000_000_000
                &+ UInt64(birth.stx_btime.tv_nsec))
    }

    /// The file systems that are looked at: they answer at once, and keep the time of birth.
    private static let local: Set = [
        "ext4", "xfs", "btrfs", "f2fs", "zfs", "bcachefs", "tmpfs",
    ]
    /// Those of them that end with the machine's run.
    private static let fleeting: Set = ["tmpfs"]

    /// The mount that a path is on, according to /proc/self/mountinfo; proc_pid_mountinfo(5).
    ///
    /// The longest mount point counts, and the last of equal ones, which covers the others.
    static func mount(of path: [UInt8], in table: [UInt8]) -> (point: [UInt8], type: String)? {
        var best: (point: [UInt8], type: String)?
        for line in table.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count > 6,
                let dash = words.dropFirst(6).firstIndex(of: [UInt8(ascii: "-")]),
                dash + 1 < words.count
            else { continue }
            let point = unescaped(words[4])
            let isAbove =
                point == [UInt8(ascii: "/")]
                || path.starts(with: point)
                    && (path.count == point.count || path[point.count] == UInt8(ascii: "/"))
            guard isAbove, point.count >= best?.point.count ?? 0 else { continue }
            best = (point, String(decoding: words[dash + 1], as: UTF8.self))
        }
        return best
    }

    /// Decodes `\040` and its like, as mountinfo writes spaces and line feeds.
    private static func unescaped(_ word: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        var rest = word
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), rest.count >= 3,
                let code = UInt8(String(decoding: rest.prefix(3), as: UTF8.self), radix: 8)
            {
                text.append(code)
                rest = rest.dropFirst(3)
            } else {
                text.append(byte)
            }
        }
        return text
    }

    /// Opens a directory without the right to read it, and follows no symbolic link.
    private static func open(_ path: [UInt8]) -> Descriptor? {
        let flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var number = unsafe Glibc.open("/", flags)
        for part in path.split(separator: UInt8(ascii: "/")) {
            guard number >= 0 else { return nil }
            let above = Descriptor(adopting: number)
            number = unsafe openat(above.number, String(decoding: part, as: UTF8.self), flags)
        }
        return number >= 0 ? Descriptor(adopting: number) : nil
    }
}
