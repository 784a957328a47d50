// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import ModuleOptions
import SignedFormats

/// Opens files that only root can have put where they are.
///
/// Every directory from the root down must belong to root, must not be writable by group or others,
/// and must be a directory, not a symbolic link to one. Each component is opened relative to the
/// one before, so no part of the path can be exchanged after it was checked.
///
/// The functions throw a `Fault`, which says whether a file is absent, untrusted or unreadable.
enum TrustedPath {
    /// Why a path was rejected.
    enum Fault: Error {
        /// No such file exists, and every directory above it is trusted.
        case absent
        /// The file or a directory above it exists but cannot be trusted.
        case untrusted
        /// A system call failed for another reason.
        case failed
    }

    /// Opens the directory at an absolute path, with O_PATH.
    static func directory(_ path: Bytes) throws(Fault) -> ModuleDescriptor {
        var directory = try open("/", below: AT_FDCWD)
        for name in path.parts(between: UInt8(ascii: "/")) where !name.isEmpty {
            directory = try open(name, below: directory.number)
        }
        return directory
    }

    /// Succeeds if an absolute path leads to a socket that root owns.
    ///
    /// The socket's mode does not matter: write permission only allows a client to connect, which
    /// everybody may.
    static func checkSocket(_ path: Bytes) throws(Fault) {
        guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { throw .untrusted }
        let parent = try directory(Bytes(path[..<slash]))
        var status = stat()
        let code = Bytes(path[(slash + 1)...]).withCString { name in
            unsafe fstatat(parent.number, name, &status, AT_SYMLINK_NOFOLLOW)
        }
        guard code == 0 else { throw fault() }
        guard status.isOf(S_IFSOCK), status.st_uid == 0 else { throw .untrusted }
    }

    /// Returns the contents of a regular file of root's in a directory.
    ///
    /// The file must have one link and must not be writable by group or others. A file longer than
    /// `cap` bytes is `.untrusted`.
    static func contents(
        of name: Bytes, in directory: borrowing ModuleDescriptor, cap: Int
    ) throws(Fault) -> Bytes {
        let number = directory.number
        let opened = name.withCString { name in
            // O_NONBLOCK: opening a FIFO must not block the login.
            unsafe open_at(number, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        }
        guard let file = ModuleDescriptor(adopting: opened) else { throw fault() }
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else { throw .failed }
        guard status.isOf(S_IFREG), isRootsOwn(status), status.st_nlink == 1 else {
            throw .untrusted
        }
        // Allocate only what is needed: the memory belongs to the application.
        guard status.st_size <= cap, let contents = file.contents(cap: Int(status.st_size)) else {
            throw .untrusted
        }
        return contents
    }

    /// Whether a directory has an entry of this name, of any type.
    static func isPresent(_ name: Bytes, in directory: borrowing ModuleDescriptor) -> Bool {
        let number = directory.number
        return name.withCString { name in
            var status = stat()
            return unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) == 0
        }
    }

    private static func open(_ name: StaticString, below parent: Int32) throws(Fault)
        -> ModuleDescriptor
    {
        try open(name.bytes, below: parent)
    }

    private static func open(_ name: Bytes, below parent: Int32) throws(Fault) -> ModuleDescriptor {
        let opened = name.withCString { name in
            unsafe open_at(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard let directory = ModuleDescriptor(adopting: opened) else { throw fault() }
        var status = stat()
        guard unsafe fstat(directory.number, &status) == 0 else { throw .failed }
        guard isRootsOwn(status) else { throw .untrusted }
        return directory
    }

    private static func isRootsOwn(_ status: stat) -> Bool {
        status.st_uid == 0 && status.st_mode & 0o022 == 0
    }

    /// Translates errno after a failed look-up. ELOOP and ENOTDIR mean a symbolic link.
    private static func fault() -> Fault {
        switch current_errno() {
        case ENOENT: .absent
        case ELOOP, ENOTDIR: .untrusted
        default: .failed
        }
    }
}

extension stat {
    /// Whether it describes a file of this type: S_IFREG, S_IFSOCK, …
    func isOf(_ type: Int32) -> Bool {
        st_mode & mode_t(S_IFMT) == mode_t(type)
    }
}

extension ModuleDescriptor {
    /// Reads to the end of the file; returns nil for more than `cap` bytes.
    borrowing func contents(cap: Int) -> Bytes? {
        let contents = beginning(cap: cap + 1)
        return contents.count <= cap ? contents : nil
    }

    /// Reads up to `cap` bytes; returns what was read before the end of the file or an error.
    borrowing func beginning(cap: Int) -> Bytes {
        var contents = Bytes(repeating: 0, count: cap)
        var length = 0
        while length < cap {
            let (file, start) = (number, length)
            let count = unsafe contents.withUnsafeMutableBytes { bytes in
                unsafe read(file, bytes.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count < 0, current_errno() == EINTR { continue }
            if count <= 0 { break }
            length += count
        }
        return Bytes(contents.prefix(length))
    }
}
