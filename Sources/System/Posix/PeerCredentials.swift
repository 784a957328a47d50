// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The process at the other end of a Unix socket, as the kernel recorded it when it connected.
package struct PeerCredentials: Equatable, Sendable {
    /// The process id; the process may have ended since, and another may have its number.
    package let pid: Int32
    /// The effective uid at the time of connect(2) or listen(2).
    package let uid: UInt32
    /// The effective gid at that time.
    package let gid: UInt32

    /// Describes a peer by its values.
    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Asks the kernel; unix(7) SO_PEERCRED.
    ///
    /// - Throws: ENOTCONN or the error of getsockopt(2) if this is not a connected Unix socket.
    package init(of socket: borrowing Descriptor) throws(SystemFault) {
        var peer = ucred()
        var size = socklen_t(MemoryLayout<ucred>.size)
        let number = socket.number
        let result = unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size)
        guard result == 0 else { throw SystemFault.current("getsockopt") }
        // A socket that is not connected, or not a Unix socket, reports pid 0 and uid -1.
        guard Int(size) == MemoryLayout<ucred>.size, peer.uid != UInt32.max else {
            throw SystemFault("getsockopt", code: ENOTCONN)
        }
        self.init(pid: peer.pid, uid: peer.uid, gid: peer.gid)
    }
}

/// The effective uid of this process; geteuid(2).
package func effectiveUID() -> UInt32 { geteuid() }
