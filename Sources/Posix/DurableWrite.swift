// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

extension Directory {
    /// Puts a file with exactly these bytes and this mode under a name: the one durable-write path.
    ///
    /// After a return the new file is on disk; after a throw, or a crash at any point, the old one or
    /// the new one is there, whole. open(2) O_EXCL, write(2), fsync(2), rename(2), fsync(2).
    package func replace(
        _ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600
    ) throws(FileFault) {
        _ = try put(name, bytes, mode: mode) { old, new, number in
            unsafe renameat(number, old, number, new)
        }
    }

    /// Puts such a file where nothing has the name; false where something has it, which stays.
    ///
    /// Of several that do so at once, one's file is there. renameat2(2) RENAME_NOREPLACE, or where the
    /// file system does not know it (NFS), link(2).
    package func add(
        _ name: String, _ bytes: [UInt8], mode: UInt32 = 0o600
    ) throws(FileFault) -> Bool {
        try put(name, bytes, mode: mode) { old, new, number in
            let code = unsafe renameat2(number, old, number, new, RENAME_NOREPLACE)
            guard code != 0 && errno == EINVAL else { return code }
            guard unsafe linkat(number, old, number, new, 0) == 0 else { return -1 }
            return unsafe unlinkat(number, old, 0)
        }
    }

    /// Fills a temporary file, and has `rename` give it its name; false where that says EEXIST.
    private func put(
        _ name: String, _ bytes: [UInt8], mode: UInt32,
        _ rename: (_ old: String, _ new: String, _ number: Int32) -> Int32
    ) throws(FileFault) -> Bool {
        try checkName(name)
        let temporary = try temporaryName()
        try fault(.create, name)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try openRelative(
            descriptor, temporary, flags, mode: 0o600, path: location(temporary))
        var isThere = false
        do throws(FileFault) {
            try fillNew(file, bytes, mode: mode, name: name)
            try fault(.rename, name)
            if rename(temporary, name, descriptor.number) != 0 {
                isThere = errno == EEXIST
                throw failed("renameat", name)
            }
        } catch {
            _ = unsafe unlinkat(descriptor.number, temporary, 0)
            guard isThere else { throw error }
        }
        // Also where it is another's: who reads it relies on it.
        try synchroniseSelf(name)
        return !isThere
    }

    /// Removes a file durably; one that is not there is no fault.
    package func remove(_ name: String) throws(FileFault) {
        try checkName(name)
        try unlink(name, flags: 0)
    }

    /// Removes an empty directory durably; one that is not there is no fault.
    package func removeDirectory(_ name: String) throws(FileFault) {
        try checkName(name)
        try unlink(name, flags: AT_REMOVEDIR)
    }

    /// Removes temporary files that a crash left; only the directory's one writer may call this.
    package func sweep() throws(FileFault) {
        for name in try entries() where name.hasPrefix(temporaryPrefix) {
            guard unsafe unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else {
                throw failed("unlinkat", name)
            }
        }
    }

    /// Writes the directory itself to disk: names that came, went or changed; fsync(2).
    func synchroniseSelf(_ name: String) throws(FileFault) {
        try fault(.synchroniseDirectory, name)
        guard fsync(descriptor.number) == 0 else { throw failed("fsync", name) }
    }

    private func unlink(_ name: String, flags: Int32) throws(FileFault) {
        try fault(.remove, name)
        guard unsafe unlinkat(descriptor.number, name, flags) == 0 else {
            if errno == ENOENT { return }
            throw failed("unlinkat", name)
        }
        try synchroniseSelf(name)
    }

    private func fillNew(
        _ file: borrowing Descriptor, _ bytes: [UInt8], mode: UInt32, name: String
    ) throws(FileFault) {
        try fault(.write, name)
        let half = bytes.count / 2
        do {
            try writeWhole(Array(bytes[..<half]), to: file, name: location(name))
            try faults.before(.writeHalf, name)
            try writeWhole(Array(bytes[half...]), to: file, name: location(name))
        } catch { throw .system(error) }
        // Not subject to the umask; the mode comes only when the bytes are there.
        guard fchmod(file.number, mode) == 0 else { throw failed("fchmod", name) }
        try fault(.synchronise, name)
        guard fsync(file.number) == 0 else { throw failed("fsync", name) }
    }

    private func temporaryName() throws(FileFault) -> String {
        do {
            let random = try randomBytes(8)
            return temporaryPrefix + random.map { String($0, radix: 16) }.joined(separator: "-")
        } catch { throw .system(error) }
    }
}

/// What no plain name can begin with.
private let temporaryPrefix = ".new-"
