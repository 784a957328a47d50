// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// A private file that only grows at its end, such as a log of receipts.
///
/// It has a single writer. Appended bytes can be read at once, but they are certain to be on disk
/// only after `synchronise` has returned.
package struct AppendFile: ~Copyable, Sendable {
    private let descriptor: Descriptor
    private let name: String
    private let path: String
    private let faults: DurableFaults

    /// Opens a file of the directory, or creates it with mode 0600 if it is missing.
    ///
    /// It is checked as in `Directory`, and must be inaccessible to group and others. A new file's
    /// name is on disk when this returns.
    package init(in directory: Directory, name: String) throws(FileFault) {
        try directory.checkName(name)
        try directory.fault(.create, name: name)
        descriptor = try AppendFile.openOrMake(directory, name: name)
        self.name = name
        path = directory.location(name)
        faults = directory.faults
    }

    private static func openOrMake(
        _ directory: Directory, name: String
    ) throws(FileFault) -> Descriptor {
        let flags = O_RDWR | O_APPEND
        do {
            return try directory.openChecked(name, flags: flags, isPrivate: true)
        } catch {
            // What is on a read-only disk can still be read; appending fails.
            if error.isReadOnly {
                return try directory.openChecked(name, flags: O_RDONLY, isPrivate: true)
            }
            guard error.isMissing else { throw error }
        }
        do {
            let create = flags | O_CREAT | O_EXCL
            let made = try directory.openChecked(name, flags: create, mode: 0o600, isPrivate: true)
            try directory.synchroniseSelf(name)
            return made
        } catch {
            // A file that cannot be made is empty, and cannot be appended to.
            guard error.isReadOnly else { throw error }
            return try nothing()
        }
    }

    /// An empty file that nothing can be written to.
    private static func nothing() throws(FileFault) -> Descriptor {
        let path = "/dev/null"
        do {
            return try Descriptor(
                result: unsafe open(path, O_RDONLY | O_CLOEXEC), of: "open", on: path)
        } catch { throw .system(error) }
    }

    /// The file's size in bytes.
    package borrowing func size() throws(FileFault) -> Int {
        try statusOf(descriptor, path: path).size
    }

    /// Writes bytes at the end, without waiting for the disk.
    ///
    /// If that fails, the file is truncated to its previous size as far as the disk permits.
    package borrowing func append(_ bytes: [UInt8]) throws(FileFault) {
        let before = try size()
        let half = bytes.count / 2
        do {
            try faults.before(.write, name)
            try writeWhole(Array(bytes[..<half]), to: descriptor, name: path)
            try faults.before(.writeHalf, name)
            try writeWhole(Array(bytes[half...]), to: descriptor, name: path)
        } catch {
            _ = ftruncate(descriptor.number, before)
            throw .system(error)
        }
    }

    /// Asks the kernel to start writing to disk, and does not wait; sync_file_range(2).
    ///
    /// Errors are not reported here; `synchronise` reports them.
    package borrowing func beginSynchronising() {
        _ = sync_file_range(descriptor.number, 0, 0, SYNC_FILE_RANGE_WRITE)
    }

    /// Waits until everything that was appended is on disk; fdatasync(2).
    package borrowing func synchronise() throws(FileFault) {
        do {
            try faults.before(.synchronise, name)
        } catch { throw .system(error) }
        guard fdatasync(descriptor.number) == 0 else {
            throw .system(.current("fdatasync", on: path))
        }
    }

    /// Reads up to `count` bytes from an offset, or fewer at the end of the file; pread(2).
    package borrowing func read(at offset: Int, count: Int) throws(FileFault) -> [UInt8] {
        guard offset >= 0, count >= 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let number = descriptor.number
        var filled = 0
        while filled < count {
            let got = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return retryingInterrupted {
                    unsafe pread(number, rest.baseAddress, rest.count, offset + filled)
                }
            }
            guard got >= 0 else { throw .system(.current("pread", on: path)) }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Truncates the file, ftruncate(2); the new size is on disk when this returns.
    package borrowing func truncate(to size: Int) throws(FileFault) {
        do {
            try faults.before(.truncate, name)
        } catch { throw .system(error) }
        guard ftruncate(descriptor.number, size) == 0 else {
            throw .system(.current("ftruncate", on: path))
        }
        try synchronise()
    }
}

extension FileFault {
    /// Whether the fault is that the disk is read-only.
    fileprivate var isReadOnly: Bool {
        guard case .system(let fault) = self else { return false }
        return fault.code == EROFS
    }
}
