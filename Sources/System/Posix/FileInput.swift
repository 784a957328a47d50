// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Reads from the file's offset to its end; nil if there are more than `cap` bytes.
func readWhole(
    _ file: borrowing Descriptor, cap: Int, name: String
) throws(SystemFault) -> [UInt8]? {
    var bytes = try readBeginning(file, count: cap + 1, name: name)
    guard bytes.count <= cap else {
        wipe(&bytes)
        return nil
    }
    return bytes
}

/// Reads from the file's offset to its end, but at most `count` bytes.
func readBeginning(
    _ file: borrowing Descriptor, count: Int, name: String
) throws(SystemFault) -> [UInt8] {
    // Most files are much smaller than their limit, so the buffer starts small and grows.
    var bytes = [UInt8](repeating: 0, count: min(count, 16_384))
    var filled = try fill(file, bytes: &bytes, from: 0, name: name)
    while filled == bytes.count, filled < count {
        let more = min(count, filled * 4) - filled
        bytes.append(contentsOf: repeatElement(0, count: more))
        filled = try fill(file, bytes: &bytes, from: filled, name: name)
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
}

/// Reads until the buffer is full or the file ends; returns the number of bytes in the buffer.
private func fill(
    _ file: borrowing Descriptor, bytes: inout [UInt8], from start: Int, name: String
) throws(SystemFault) -> Int {
    let number = file.number
    var filled = start
    while filled < bytes.count {
        let got = unsafe bytes.withUnsafeMutableBytes { buffer in
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            return retryingInterrupted { unsafe read(number, rest.baseAddress, rest.count) }
        }
        guard got >= 0 else { throw SystemFault.current("read", on: name) }
        if got == 0 { break }
        filled += got
    }
    return filled
}

/// Writes all bytes at the descriptor's offset, in as many calls of write(2) as necessary.
func writeWhole(
    _ bytes: [UInt8], to file: borrowing Descriptor, name: String
) throws(SystemFault) {
    let number = file.number
    var written = 0
    while written < bytes.count {
        let put = unsafe bytes.withUnsafeBytes { buffer in
            let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
            return retryingInterrupted { unsafe write(number, rest.baseAddress, rest.count) }
        }
        guard put > 0 else { throw SystemFault.current("write", on: name) }
        written += put
    }
}

/// The result of fstat(2) on an open file, with the checks for trusted files.
struct FileStatus {
    let owner: UInt32
    let mode: UInt32
    let links: UInt64
    let size: Int

    init(of file: borrowing Descriptor, name: String) throws(SystemFault) {
        var status = stat()
        guard unsafe fstat(file.number, &status) == 0 else {
            throw SystemFault.current("fstat", on: name)
        }
        owner = status.st_uid
        mode = status.st_mode
        links = UInt64(status.st_nlink)
        size = Int(status.st_size)
    }

    private var kind: UInt32 { mode & UInt32(S_IFMT) }
    var permissions: UInt32 { mode & 0o7777 }

    /// Why a directory on the path to a trusted file cannot be trusted; nil if it can.
    func distrustAsDirectory(owner allowed: UInt32, forbidding bits: UInt32) -> Distrust? {
        guard kind == UInt32(S_IFDIR) else { return .wrongKind }
        return distrust(owner: allowed, forbidding: bits)
    }

    /// Why a regular file cannot be trusted; nil if it can.
    func distrustAsFile(owner allowed: UInt32, forbidding bits: UInt32) -> Distrust? {
        guard kind == UInt32(S_IFREG) else { return .wrongKind }
        guard links == 1 else { return .linked }
        return distrust(owner: allowed, forbidding: bits)
    }

    private func distrust(owner allowed: UInt32, forbidding bits: UInt32) -> Distrust? {
        guard owner == 0 || owner == allowed else { return .owner(owner) }
        guard permissions & bits == 0 else { return .mode(permissions) }
        return nil
    }
}

/// Permission bits that must not be set.
enum ForbiddenBits {
    /// Write access for group or others.
    static let shared: UInt32 = 0o022
    /// Any access for group or others.
    static let others: UInt32 = 0o077
}
