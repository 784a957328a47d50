// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Who was at the other end of a Unix socket when it was connected, as the kernel vouches.
package struct PeerCredentials: Equatable, Sendable {
    /// The process; it may have gone since, and its number may be another's by now.
    package let pid: Int32
    /// The effective user at the time of connect(2) or listen(2).
    package let uid: UInt32
    /// The effective group at that time.
    package let gid: UInt32

    /// Describes a peer by its numbers.
    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }

    /// Asks the kernel; unix(7) SO_PEERCRED. Throws where the descriptor is no Unix socket.
    package init(of socket: borrowing Descriptor) throws(SystemFault) {
        var peer = ucred()
        var size = socklen_t(MemoryLayout<ucred>.size)
        let number = socket.number
        let result = unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size)
        guard result == 0 else { throw SystemFault.current("getsockopt") }
        // A socket that is not connected, or not a Unix one, answers with pid 0 and uid -1.
        guard Int(size) == MemoryLayout<ucred>.size, peer.uid != UInt32.max else {
            throw SystemFault("getsockopt", code: ENOTCONN)
        }
        self.init(pid: peer.pid, uid: peer.uid, gid: peer.gid)
    }
}

/// The user that this process acts as; geteuid(2).
package func effectiveUID() -> UInt32 { geteuid() }
