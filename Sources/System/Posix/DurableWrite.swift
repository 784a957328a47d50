// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

// Writes that survive a crash: a file has its old content or its new content, complete, whatever
// happens in between. The directory must have a single writer.
extension Directory {
    /// Writes a file durably, in place of any file of that name.
    ///
    /// When this returns, the new file is on disk. After an error, or a crash at any point, either
    /// the old or the new file exists, and it is complete. The steps are open(2) O_EXCL, write(2),
    /// fsync(2), rename(2), and fsync(2) of the directory.
    ///
    /// - Parameter mode: The exact mode of the file, regardless of the umask.
    package func replace(
        _ name: String, bytes: [UInt8], mode: UInt32 = 0o600
    ) throws(FileFault) {
        _ = try put(name, bytes: bytes, mode: mode) { old, new, number in
            unsafe renameat(number, old, number, new)
        }
    }

    /// Writes a file durably, unless an entry of that name exists.
    ///
    /// If several callers do this at once, exactly one succeeds: renameat2(2) with
    /// RENAME_NOREPLACE, or link(2) on file systems such as NFS that do not support it.
    ///
    /// - Returns: false if an entry of that name exists, which is left unchanged; its name is on
    ///   disk.
    package func add(
        _ name: String, bytes: [UInt8], mode: UInt32 = 0o600
    ) throws(FileFault) -> Bool {
        try put(name, bytes: bytes, mode: mode) { old, new, number in
            let code = unsafe renameat2(number, old, number, new, RENAME_NOREPLACE)
            guard code != 0 && errno == EINVAL else { return code }
            guard unsafe linkat(number, old, number, new, 0) == 0 else { return -1 }
            return unsafe unlinkat(number, old, 0)
        }
    }

    /// Fills a temporary file and calls `rename` to move it to its name.
    ///
    /// - Returns: false if `rename` fails with EEXIST; the temporary file is then removed.
    private func put(
        _ name: String, bytes: [UInt8], mode: UInt32,
        _ rename: (_ old: String, _ new: String, _ number: Int32) -> Int32
    ) throws(FileFault) -> Bool {
        try checkName(name)
        let temporary = try temporaryName()
        try fault(.create, name: name)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = try openRelative(
            descriptor, name: temporary, flags: flags, mode: 0o600, path: location(temporary))
        var isThere = false
        do throws(FileFault) {
            try fillNew(file, bytes: bytes, mode: mode, name: name)
            try fault(.rename, name: name)
            if rename(temporary, name, descriptor.number) != 0 {
                isThere = errno == EEXIST
                throw failed("renameat", name: name)
            }
        } catch {
            _ = unsafe unlinkat(descriptor.number, temporary, 0)
            guard isThere else { throw error }
        }
        // An existing entry is synchronised too, because the caller relies on it being on disk.
        try synchroniseSelf(name)
        return !isThere
    }

    /// Removes a file durably; a missing file is not an error.
    package func remove(_ name: String) throws(FileFault) {
        try checkName(name)
        try unlink(name, flags: 0)
    }

    /// Removes an empty directory durably; a missing directory is not an error.
    package func removeDirectory(_ name: String) throws(FileFault) {
        try checkName(name)
        try unlink(name, flags: AT_REMOVEDIR)
    }

    /// Removes temporary files that a crash left behind.
    ///
    /// Only the directory's single writer may call this, and not during one of its writes.
    package func sweep() throws(FileFault) {
        for name in try entries() where name.hasPrefix(temporaryPrefix) {
            guard unsafe unlinkat(descriptor.number, name, 0) == 0 || errno == ENOENT else {
                throw failed("unlinkat", name: name)
            }
        }
    }

    /// Waits until the directory's entries are on disk; fsync(2).
    func synchroniseSelf(_ name: String) throws(FileFault) {
        try fault(.synchroniseDirectory, name: name)
        guard fsync(descriptor.number) == 0 else { throw failed("fsync", name: name) }
    }

    private func unlink(_ name: String, flags: Int32) throws(FileFault) {
        try fault(.remove, name: name)
        guard unsafe unlinkat(descriptor.number, name, flags) == 0 else {
            if errno == ENOENT { return }
            throw failed("unlinkat", name: name)
        }
        try synchroniseSelf(name)
    }

    private func fillNew(
        _ file: borrowing Descriptor, bytes: [UInt8], mode: UInt32, name: String
    ) throws(FileFault) {
        try fault(.write, name: name)
        let half = bytes.count / 2
        do {
            try writeWhole(Array(bytes[..<half]), to: file, name: location(name))
            try faults.before(.writeHalf, name)
            try writeWhole(Array(bytes[half...]), to: file, name: location(name))
        } catch { throw .system(error) }
        // fchmod is not subject to the umask; the mode is set only after the bytes are written.
        guard fchmod(file.number, mode) == 0 else { throw failed("fchmod", name: name) }
        try fault(.synchronise, name: name)
        guard fsync(file.number) == 0 else { throw failed("fsync", name: name) }
    }

    private func temporaryName() throws(FileFault) -> String {
        do {
            let random = try randomBytes(8)
            return temporaryPrefix + random.map { String($0, radix: 16) }.joined(separator: "-")
        } catch { throw .system(error) }
    }
}

/// The prefix of temporary files, which no plain name has.
private let temporaryPrefix = ".new-"
