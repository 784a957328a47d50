// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc
import Synchronization

/// Secret bytes that never reach swap or a core dump, and are wiped when the owner is destroyed.
///
/// They are on separate memory pages: mlock(2), madvise(2) MADV_DONTDUMP, explicit_bzero(3).
/// They do not change after the initialiser has returned. Copies that a caller makes are not
/// protected.
// SAFETY: the storage is written only inside `init`, before the reference is shared; afterwards it
// is only read, and freed once, in `deinit`. Its address is lent as spans only.
@safe package final class SecretBytes: @unchecked Sendable {
    private let storage: UnsafeMutableRawBufferPointer
    private let mapped: Int

    /// The number of secret bytes.
    package var count: Int { unsafe storage.count }

    /// Allocates locked memory, filled with zeros, and lets `fill` write to it once.
    ///
    /// - Throws: a fault of mmap(2) or mlock(2), such as ENOMEM if RLIMIT_MEMLOCK is exceeded.
    package init(count: Int, fill: (inout MutableRawSpan) -> Void) throws(SystemFault) {
        let page = LockedPages.size
        let size = max(1, (count + page - 1) / page) * page
        let address = unsafe try LockedPages.take(size)
        unsafe storage = UnsafeMutableRawBufferPointer(start: address, count: count)
        mapped = size
        var span = unsafe storage.mutableBytes
        fill(&span)
    }

    deinit {
        guard let address = unsafe storage.baseAddress else { return }
        unsafe explicit_bzero(address, mapped)
        unsafe LockedPages.giveBack(address, count: mapped)
    }

    /// Lends the bytes for the duration of the call.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let span = unsafe storage.bytes
        return try body(span)
    }

    /// Compares two secrets in a time that depends only on their lengths.
    package func equals(_ other: SecretBytes) -> Bool {
        withBytes { mine in
            other.withBytes { theirs in constantTimeEqual(mine, theirs) }
        }
    }
}

/// Memory that never reaches swap or a core dump.
///
/// A few unused single pages are retained, wiped, because mapping and locking a page takes longer
/// than most uses of it.
private enum LockedPages {
    /// The size of a page in bytes.
    static let size = Int(sysconf(Int32(_SC_PAGESIZE)))
    /// The largest number of unused pages that are retained.
    private static let most = 8
    // The addresses of the retained pages, each mapped, locked and full of zeros.
    private static let free = Mutex<[UInt]>([])

    /// Takes `count` bytes of memory, a multiple of the page size, full of zeros.
    static func take(_ count: Int) throws(SystemFault) -> UnsafeMutableRawPointer {
        if count == size, let kept = free.withLock({ $0.popLast() }),
            let address = unsafe UnsafeMutableRawPointer(bitPattern: kept)
        {
            return unsafe address
        }
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        let address = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, flags, -1, 0)
        guard let address = unsafe address, unsafe address != MAP_FAILED else {
            throw SystemFault.current("mmap")
        }
        guard unsafe mlock(address, count) == 0,
            unsafe madvise(address, count, MADV_DONTDUMP) == 0
        else {
            let fault = SystemFault.current("mlock")
            unsafe munmap(address, count)
            throw fault
        }
        return unsafe address
    }

    /// Returns memory, which must have been wiped.
    static func giveBack(_ address: UnsafeMutableRawPointer, count: Int) {
        let isKept =
            count == size
            && free.withLock { pages in
                guard pages.count < most else { return false }
                pages.append(UInt(bitPattern: address))
                return true
            }
        if !isKept { unsafe munmap(address, count) }
    }
}

extension SecretBytes {
    /// Copies bytes; the caller has to wipe the original.
    package convenience init(copying bytes: RawSpan) throws(SystemFault) {
        try self.init(count: bytes.byteCount) { target in
            unsafe target.withUnsafeMutableBytes { to in
                unsafe bytes.withUnsafeBytes { from in unsafe to.copyMemory(from: from) }
            }
        }
    }

    /// Moves bytes out of an array, which is wiped and left empty even if this throws.
    package convenience init(moving bytes: inout [UInt8]) throws(SystemFault) {
        defer { wipe(&bytes) }
        try self.init(copying: unsafe bytes.span.bytes)
    }

    /// Concatenates secrets, which remain unchanged.
    package convenience init(joining parts: [SecretBytes]) throws(SystemFault) {
        let count = parts.reduce(0) { $0 + $1.count }
        try self.init(count: count) { target in
            var start = 0
            for part in parts {
                part.withBytes { bytes in
                    unsafe target.withUnsafeMutableBytes { to in
                        unsafe bytes.withUnsafeBytes { from in
                            let place = unsafe UnsafeMutableRawBufferPointer(
                                rebasing: to[start..<(start + from.count)])
                            unsafe place.copyMemory(from: from)
                        }
                    }
                }
                start += part.count
            }
        }
    }

    /// Creates a secret of random bytes from the kernel; getrandom(2).
    package static func random(_ count: Int) throws(SystemFault) -> SecretBytes {
        var filled = false
        let secret = try SecretBytes(count: count) { target in
            filled = unsafe target.withUnsafeMutableBytes { unsafe fillRandom($0) }
        }
        guard filled else { throw SystemFault.current("getrandom") }
        return secret
    }
}

/// Overwrites an array that held a secret, and empties it; explicit_bzero(3).
///
/// If other variables share the array's storage, their copies are not wiped.
package func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let address = buffer.baseAddress else { return }
        unsafe explicit_bzero(address, buffer.count)
    }
    bytes = []
}

/// Overwrites bytes that held a secret; explicit_bzero(3).
package func wipe(_ bytes: inout MutableRawSpan) {
    unsafe bytes.withUnsafeMutableBytes { buffer in
        guard let address = buffer.baseAddress else { return }
        unsafe explicit_bzero(address, buffer.count)
    }
}

/// Compares two byte sequences in a time that depends only on their lengths.
package func constantTimeEqual(_ one: RawSpan, _ other: RawSpan) -> Bool {
    guard one.byteCount == other.byteCount else { return false }
    return unsafe one.withUnsafeBytes { left in
        unsafe other.withUnsafeBytes { right in
            var difference: UInt8 = 0
            for index in left.indices { unsafe difference |= left[index] ^ right[index] }
            return difference == 0
        }
    }
}

/// Compares two arrays in a time that depends only on their lengths.
package func constantTimeEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    unsafe constantTimeEqual(one.span.bytes, other.span.bytes)
}
