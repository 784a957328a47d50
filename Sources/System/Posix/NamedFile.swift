// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

// Files whose paths the caller chooses, accessed with the caller's own rights and without trust
// checks.

/// Reads up to `cap` + 1 bytes of a file.
///
/// A result longer than `cap` means that the file is too large.
package func readFile(_ path: String, cap: Int) throws(SystemFault) -> [UInt8] {
    let file = try Descriptor(
        result: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), of: "open", on: path)
    return try readBeginning(file, count: cap + 1, name: path)
}

/// Opens a file for reading, open(2), without waiting for a writer if it is a FIFO.
package func openFile(_ path: String) throws(SystemFault) -> Descriptor {
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    return try Descriptor(result: unsafe open(path, flags), of: "open", on: path)
}

/// Writes a file, and replaces any existing one atomically; rename(2).
///
/// The new file has mode 0644, subject to the umask. It is not forced to disk, so that it may be
/// lost if the machine fails.
package func replaceFile(_ path: String, bytes: [UInt8]) throws(SystemFault) {
    let suffix = try randomBytes(8).map { String($0, radix: 16) }.joined()
    let temporary = "\(path).\(suffix)"
    do throws(SystemFault) {
        try createFile(temporary, bytes: bytes)
        guard unsafe rename(temporary, path) == 0 else {
            throw SystemFault.current("rename", on: path)
        }
    } catch {
        unsafe unlink(temporary)
        throw error
    }
}

/// Creates a file, which must not exist yet; open(2) with O_EXCL.
///
/// Its mode is 0644, subject to the umask.
package func createFile(_ path: String, bytes: [UInt8]) throws(SystemFault) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = try Descriptor(result: unsafe open(path, flags, 0o644), of: "open", on: path)
    try writeWhole(bytes, to: file, name: path)
}

/// Removes a file if it exists, and ignores errors; unlink(2).
package func removeFile(_ path: String) {
    unsafe unlink(path)
}

/// Creates a directory with mode 0700, unless an entry of that name exists; mkdir(2).
package func makeDirectory(_ path: String) throws(SystemFault) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw SystemFault.current("mkdir", on: path)
    }
}

/// Whether an entry of any kind exists at a path, broken links included; lstat(2).
package func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
}

/// Throws unless the caller may read the file; access(2).
package func checkReadable(_ path: String) throws(SystemFault) {
    guard unsafe access(path, R_OK) == 0 else { throw SystemFault.current("open", on: path) }
}
