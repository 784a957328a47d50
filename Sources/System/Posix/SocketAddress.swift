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

    /// Passes the address to a call such as bind(2) or connect(2).
    func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        unsafe withUnsafePointer(to: storage) { pointer in
            let size = socklen_t(MemoryLayout<sockaddr_un>.size)
            let family = unsafe UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            return unsafe body(family, size)
        }
    }
}
