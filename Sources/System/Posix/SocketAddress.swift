// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The path of a Unix socket as a kernel address; unix(7).
struct SocketAddress {
    private var storage: sockaddr_un

    /// Checks and converts a path.
    ///
    /// - Throws: ENAMETOOLONG if the path is too long, EINVAL if it is empty or contains a NUL.
    init(path: String) throws(SystemFault) {
        storage = sockaddr_un()
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: storage.sun_path)
        guard bytes.count < room else {
            throw SystemFault("connect", on: path, code: ENAMETOOLONG)
        }
        guard !bytes.isEmpty, !bytes.contains(0) else {
            throw SystemFault("connect", on: path, code: EINVAL)
        }
        storage.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &storage.sun_path) { unsafe $0.copyBytes(from: bytes) }
    }

    /// The path that a socket is bound to, getsockname(2); nil if it is bound to none.
    static func path(of descriptor: Int32) -> String? {
        var storage = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
            let address = unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(
                to: sockaddr.self)
            return unsafe getsockname(descriptor, address, &length)
        }
        guard result == 0, storage.sun_family == sa_family_t(AF_UNIX) else { return nil }
        // An abstract name begins with a NUL, and is no path.
        let bytes = unsafe withUnsafeBytes(of: &storage.sun_path) { place in
            unsafe Array(place.prefix { $0 != 0 })
        }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    /// Passes the address to a call such as bind(2) or connect(2).
    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { pointer in
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let family = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            return unsafe body(family, size)
        }
    }
}
