// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

// Files that the program's caller names, with the caller's own rights.

/// Reads a file; the bytes are `cap` + 1 where it has more than `cap`.
package func readFile(_ path: String, cap: Int) throws(SystemFault) -> [UInt8] {
    let file = try Descriptor(
        result: unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), of: "open", on: path)
    return try readBeginning(file, count: cap + 1, name: path)
}

/// Opens a file to be read piece by piece; open(2). A pipe without a writer holds nobody up.
package func openFile(_ path: String) throws(SystemFault) -> Descriptor {
    let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
    return try Descriptor(result: unsafe open(path, flags), of: "open", on: path)
}

/// Writes a file in the place of any that is there, which is replaced as a whole; rename(2).
package func replaceFile(_ path: String, _ bytes: [UInt8]) throws(SystemFault) {
    let suffix = try randomBytes(8).map { String($0, radix: 16) }.joined()
    let temporary = "\(path).\(suffix)"
    do throws(SystemFault) {
        try createFile(temporary, bytes)
        guard unsafe rename(temporary, path) == 0 else {
            throw SystemFault.current("rename", on: path)
        }
    } catch {
        unsafe unlink(temporary)
        throw error
    }
}

/// Writes a file that must not be there yet; open(2) with O_EXCL.
package func createFile(_ path: String, _ bytes: [UInt8]) throws(SystemFault) {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    let file = try Descriptor(result: unsafe open(path, flags, 0o644), of: "open", on: path)
    try writeWhole(bytes, to: file, name: path)
}

/// Removes a file if it is there; unlink(2).
package func removeFile(_ path: String) {
    unsafe unlink(path)
}

/// Makes a directory for the caller alone, if there is none; mkdir(2).
package func makeDirectory(_ path: String) throws(SystemFault) {
    guard unsafe mkdir(path, 0o700) == 0 || errno == EEXIST else {
        throw SystemFault.current("mkdir", on: path)
    }
}

/// Whether anything is there by that name, also a broken link; lstat(2).
package func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
}

/// Throws unless there is a file of this name that the caller may read, without opening it; access(2).
package func checkReadable(_ path: String) throws(SystemFault) {
    guard unsafe access(path, R_OK) == 0 else { throw SystemFault.current("open", on: path) }
}
