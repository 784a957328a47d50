// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// polkit's authentication agent, for which polkit's helper calls this module.
///
/// The daemon checks the presence of the agent's process instead of the helper's. A pidfd
/// identifies the process, so its process id cannot be reused unnoticed by another one: `isAlive`
/// is checked once more at the end of a login.
final class Agent {
    /// The agent's process id.
    let process: UInt32
    /// The uid that the agent had when it connected to the helper's standard input; nil if the
    /// agent started the helper itself.
    let user: UInt32?
    private let handle: ModuleDescriptor

    private init(process: pid_t, user: UInt32? = nil, handle: consuming ModuleDescriptor) {
        self.process = UInt32(clamping: process)
        self.user = user
        self.handle = handle
    }

    /// Finds the agent behind this process; returns nil if it cannot be determined.
    ///
    /// From polkit 127 on, the helper runs as a service of root's, and its standard input is the
    /// agent's socket. In older versions the agent starts a setuid helper: the real uid is then the
    /// agent's, and standard input proves nothing, because the agent chooses it.
    static func find() -> Agent? {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let isSocket = unsafe getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
        return getuid() == 0 && isSocket ? behindSocket() : parent()
    }

    /// Whether the process still exists.
    var isAlive: Bool {
        var request = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) == 0
    }

    private static func behindSocket() -> Agent? {
        guard let peer = ModuleConnection.peer(of: STDIN_FILENO), peer.pid > 0 else { return nil }
        // The kernel's own pidfd of the peer, if it supports that, cannot refer to another process.
        guard let handle = ModuleDescriptor(adopting: peer_handle(STDIN_FILENO)) else {
            return current_errno() == ENOPROTOOPT ? opened(peer.pid, user: peer.uid) : nil
        }
        return Agent(process: peer.pid, user: peer.uid, handle: handle)
    }

    private static func parent() -> Agent? {
        let number = getppid()
        // If it is the parent both before and after it was opened, the pidfd refers to it.
        guard number > 1, let agent = opened(number), getppid() == number else { return nil }
        return agent
    }

    private static func opened(_ process: pid_t, user: UInt32? = nil) -> Agent? {
        guard let handle = ModuleDescriptor(adopting: process_handle(process)) else { return nil }
        return Agent(process: process, user: user, handle: handle)
    }
}
