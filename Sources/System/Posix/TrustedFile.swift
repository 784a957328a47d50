// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Opens files that only root, or one named account, can have put where they are.
///
/// Every directory from `/` on, and the file itself, must be owned by root or the account, must not
/// be writable by group or others, and must not be a symbolic link. Each one is opened relative to
/// the one before, so that nothing can be exchanged between check and use; openat(2), fstat(2).
/// Anything else throws `FileFault.untrusted`.
package enum TrustedFile {
    /// Reads a regular file with a single link and at most `cap` bytes.
    ///
    /// - Parameters:
    ///   - owner: A uid that is allowed besides root.
    ///   - isPrivate: Whether group and others must have no access at all.
    /// - Throws: `untrusted` if a check fails, `tooLarge` if the file has more than `cap` bytes.
    package static func read(
        _ path: String, owner: UInt32 = 0, isPrivate: Bool = false, cap: Int
    ) throws(FileFault) -> [UInt8] {
        let file = try open(path, owner: owner, isPrivate: isPrivate)
        let bytes: [UInt8]?
        do {
            bytes = try readWhole(file, cap: cap, name: path)
        } catch { throw .system(error) }
        guard let bytes else { throw .tooLarge(path: path) }
        return bytes
    }

    /// Opens a file for reading, with the same checks as `read`.
    package static func open(
        _ path: String, owner: UInt32 = 0, isPrivate: Bool = false
    ) throws(FileFault) -> Descriptor {
        let parts = try components(of: path)
        guard let name = parts.last else { throw .untrusted(path: path, .notAbsolute) }
        let parent = try walk(parts.dropLast(), owner: owner)
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let file = try openRelative(parent, name: name, flags: flags, path: path)
        let bits = isPrivate ? ForbiddenBits.others : ForbiddenBits.shared
        let status = try statusOf(file, path: path)
        if let distrust = status.distrustAsFile(owner: owner, forbidding: bits) {
            throw .untrusted(path: path, distrust)
        }
        return file
    }

    /// Opens a directory, with the same checks as for a file's parent directories.
    static func openDirectory(_ path: String, owner: UInt32) throws(FileFault) -> Descriptor {
        let place = try walk(try components(of: path)[...], owner: owner)
        return try openRelative(
            place, name: ".", flags: O_RDONLY | O_DIRECTORY | O_CLOEXEC, path: path)
    }

    /// Splits an absolute path; rejects `.`, `..`, doubled or trailing slashes and NUL.
    private static func components(of path: String) throws(FileFault) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.first == "", parts.count > 1, !path.utf8.contains(0),
            parts.dropFirst().allSatisfy({ !["", ".", ".."].contains($0) })
        else { throw .untrusted(path: path, .notAbsolute) }
        return Array(parts.dropFirst())
    }

    /// Opens a path's directories one after another from `/`, and checks each of them.
    private static func walk(
        _ parts: ArraySlice<String>, owner: UInt32
    ) throws(FileFault) -> Descriptor {
        let flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var place: Descriptor
        do {
            place = try Descriptor(result: unsafe Glibc.open("/", flags), of: "open", on: "/")
        } catch { throw .system(error) }
        var path = ""
        try trustDirectory(place, path: "/", owner: owner)
        for part in parts {
            path += "/" + part
            place = try openRelative(place, name: part, flags: flags, path: path)
            try trustDirectory(place, path: path, owner: owner)
        }
        return place
    }

    private static func trustDirectory(
        _ place: borrowing Descriptor, path: String, owner: UInt32
    ) throws(FileFault) {
        let status = try statusOf(place, path: path)
        let bits = ForbiddenBits.shared
        if let distrust = status.distrustAsDirectory(owner: owner, forbidding: bits) {
            throw .untrusted(path: path, distrust)
        }
    }
}

/// Opens a name relative to a directory; a symbolic link is reported as `wrongKind`.
func openRelative(
    _ place: borrowing Descriptor, name: String, flags: Int32, mode: UInt32 = 0, path: String
) throws(FileFault) -> Descriptor {
    let number = place.number
    let result = retryingInterrupted { unsafe openat(number, name, flags, mode) }
    guard result < 0 else { return Descriptor(adopting: result) }
    let code = errno
    let isLink = flags & O_NOFOLLOW != 0 && (code == ELOOP || code == EMLINK)
    if isLink || (code == ENOTDIR && flags & O_DIRECTORY != 0) {
        throw .untrusted(path: path, .wrongKind)
    }
    throw .system(SystemFault("openat", on: path, code: code))
}

/// fstat(2), with the fault as a `FileFault`.
func statusOf(_ file: borrowing Descriptor, path: String) throws(FileFault) -> FileStatus {
    do {
        return try FileStatus(of: file, name: path)
    } catch { throw .system(error) }
}
