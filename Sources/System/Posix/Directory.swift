// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// An open directory that belongs to one program, and whose files are opened relative to it.
///
/// Names must be plain: no slash, no leading dot, no space or control character, at most 200 bytes;
/// others throw `badName`. Files must be regular, have one link, belong to root or the given owner,
/// and not be writable by group or others; otherwise `untrusted` is thrown. When `makeDirectory`,
/// `replace`, `add` or a function that removes has changed something, the change is on disk when it
/// returns.
package final class Directory: Sendable {
    /// The path by which it was opened, for messages.
    package let path: String
    let descriptor: Descriptor
    let owner: UInt32
    let faults: DurableFaults

    private init(
        path: String, descriptor: consuming Descriptor, owner: UInt32, faults: DurableFaults
    ) {
        self.path = path
        self.descriptor = descriptor
        self.owner = owner
        self.faults = faults
    }

    /// Opens a directory by its absolute path.
    ///
    /// Every directory from `/` on is checked as in `TrustedFile`.
    ///
    /// - Parameter owner: A uid that may own it and its files, besides root.
    package static func open(
        _ path: String, owner: UInt32 = 0, faults: DurableFaults = .none
    ) throws(FileFault) -> Directory {
        let descriptor = try TrustedFile.openDirectory(path, owner: owner)
        return Directory(path: path, descriptor: descriptor, owner: owner, faults: faults)
    }

    /// Opens a directory by its absolute path, and creates it with mode 0700 if it is missing, and
    /// those above it.
    ///
    /// - Parameter owner: A uid that may own them, besides root.
    package static func make(_ path: String, owner: UInt32) throws(FileFault) -> Directory {
        do {
            return try open(path, owner: owner)
        } catch {
            guard error.isMissing, let slash = path.lastIndex(of: "/"), path.count > 1 else {
                throw error
            }
            let above = path[..<slash]
            _ = try make(above.isEmpty ? "/" : String(above), owner: owner)
        }
        // Another process may create it at the same time.
        guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw .system(SystemFault.current("mkdir", on: path))
        }
        return try open(path, owner: owner)
    }

    /// Opens a subdirectory.
    ///
    /// - Parameter isPrivate: Whether group and others must have no access at all.
    /// - Throws: `untrusted` for a symbolic link, another owner, or a directory that group or
    ///   others may write to.
    package func directory(
        _ name: String, isPrivate: Bool = true
    ) throws(FileFault) -> Directory {
        try checkName(name)
        let full = location(name)
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        let opened = try openRelative(descriptor, name: name, flags: flags, path: full)
        let bits = isPrivate ? ForbiddenBits.others : ForbiddenBits.shared
        let status = try statusOf(opened, path: full)
        if let distrust = status.distrustAsDirectory(owner: owner, forbidding: bits) {
            throw .untrusted(path: full, distrust)
        }
        return Directory(path: full, descriptor: opened, owner: owner, faults: faults)
    }

    /// Creates a subdirectory durably if it is missing, and opens it.
    ///
    /// - Parameter mode: The exact mode of a new directory, regardless of the umask. If it gives
    ///   group and others no access, an existing directory must not give them any either.
    package func makeDirectory(_ name: String, mode: UInt32) throws(FileFault) -> Directory {
        try checkName(name)
        try fault(.makeDirectory, name: name)
        let number = descriptor.number
        if unsafe mkdirat(number, name, mode) == 0 {
            // mkdirat(2) applies the umask, which removes all access for group and others in the
            // daemon.
            guard unsafe fchmodat(number, name, mode, 0) == 0 else {
                throw failed("fchmodat", name: name)
            }
            try synchroniseSelf(name)
        } else if errno != EEXIST {
            throw failed("mkdirat", name: name)
        }
        return try directory(name, isPrivate: mode & ForbiddenBits.others == 0)
    }

    /// Reads a whole file; nil if there is none.
    ///
    /// - Parameter isPrivate: Whether group and others must have no access at all.
    /// - Throws: `tooLarge` if the file has more than `cap` bytes, and `untrusted` if a check
    ///   fails.
    package func read(
        _ name: String, cap: Int, isPrivate: Bool = true
    ) throws(FileFault) -> [UInt8]? {
        try checkName(name)
        let file: Descriptor
        do {
            file = try openChecked(name, flags: O_RDONLY, isPrivate: isPrivate)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
        let bytes: [UInt8]?
        do {
            bytes = try readWhole(file, cap: cap, name: location(name))
        } catch { throw .system(error) }
        guard let bytes else { throw .tooLarge(path: location(name)) }
        return bytes
    }

    /// Whether an entry of any kind has this name; fstatat(2).
    package func contains(_ name: String) throws(FileFault) -> Bool {
        try checkName(name)
        var status = stat()
        let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        guard code == 0 || errno == ENOENT else { throw failed("fstatat", name: name) }
        return code == 0
    }

    /// Returns the modification time of an entry, fstatat(2), in seconds since 1970; nil if there
    /// is none.
    package func modified(_ name: String) throws(FileFault) -> Int64? {
        try checkName(name)
        var status = stat()
        let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
        guard code == 0 || errno == ENOENT else { throw failed("fstatat", name: name) }
        return code == 0 ? Int64(status.st_mtim.tv_sec) : nil
    }

    /// Sets a file's times to now, which inotify(7) reports to watchers; utimensat(2).
    package func touch(_ name: String) throws(FileFault) {
        try checkName(name)
        let number = descriptor.number
        guard unsafe utimensat(number, name, nil, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw failed("utimensat", name: name)
        }
    }

    /// Sets an entry's access and modification time, in seconds since 1970; utimensat(2).
    package func setModified(_ name: String, seconds: Int64) throws(FileFault) {
        try checkName(name)
        let number = descriptor.number
        let moment = timespec(tv_sec: Int(seconds), tv_nsec: 0)
        let code = unsafe [moment, moment].withUnsafeBufferPointer { times in
            unsafe utimensat(number, name, times.baseAddress, AT_SYMLINK_NOFOLLOW)
        }
        guard code == 0 else { throw failed("utimensat", name: name) }
    }

    /// Lists the plain names in this directory, sorted, and leaves out others, such as temporary
    /// files.
    package func list() throws(FileFault) -> [String] {
        try entries().filter(isPlainName).sorted()
    }

    /// Lists the plain names of the subdirectories, sorted; a symbolic link is none; fstatat(2).
    package func subdirectories() throws(FileFault) -> [String] {
        var found: [String] = []
        for name in try list() {
            var status = stat()
            let code = unsafe fstatat(descriptor.number, name, &status, AT_SYMLINK_NOFOLLOW)
            guard code == 0 || errno == ENOENT else { throw failed("fstatat", name: name) }
            if code == 0, status.st_mode & S_IFMT == S_IFDIR { found.append(name) }
        }
        return found
    }

    /// Lists all names except `.` and `..`, sorted, including those that the other functions
    /// reject.
    package func listAll() throws(FileFault) -> [String] { try entries().sorted() }

    /// The path of a name in this directory, for messages.
    func location(_ name: String) -> String { path + "/" + name }

    /// Opens a file of this directory, and checks its kind, owner, mode and link count.
    func openChecked(
        _ name: String, flags: Int32, mode: UInt32 = 0, isPrivate: Bool
    ) throws(FileFault) -> Descriptor {
        let all = flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let file = try openRelative(
            descriptor, name: name, flags: all, mode: mode, path: location(name))
        let bits = isPrivate ? ForbiddenBits.others : ForbiddenBits.shared
        let status = try statusOf(file, path: location(name))
        if let distrust = status.distrustAsFile(owner: owner, forbidding: bits) {
            throw .untrusted(path: location(name), distrust)
        }
        return file
    }

    /// Throws `badName` unless the name is plain.
    func checkName(_ name: String) throws(FileFault) {
        guard isPlainName(name) else { throw .badName(name) }
    }

    /// Lets tests make a step fail.
    func fault(_ step: DurableStep, name: String) throws(FileFault) {
        do {
            try faults.before(step, name)
        } catch { throw .system(error) }
    }

    /// Makes the fault for the current `errno`, about a name in this directory.
    func failed(_ operation: String, name: String) -> FileFault {
        .system(SystemFault.current(operation, on: location(name)))
    }

    /// Reads all names except `.` and `..`; readdir(3).
    func entries() throws(FileFault) -> [String] {
        // The stream gets its own descriptor, because it moves the offset and closes the
        // descriptor.
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC
        let stream = unsafe fdopendir(
            try openRelative(descriptor, name: ".", flags: flags, path: path).release())
        guard let stream = unsafe stream else { throw failed("fdopendir", name: "") }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
                unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { characters in
                    unsafe String(validatingCString: characters)
                }
            }
            if let name, name != ".", name != ".." { names.append(name) }
            errno = 0
        }
        guard errno == 0 else { throw failed("readdir", name: "") }
        return names
    }
}

/// Whether a name stays within its directory and cannot be that of a temporary file.
private func isPlainName(_ name: String) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= 200 && !name.hasPrefix(".")
        && bytes.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
}
