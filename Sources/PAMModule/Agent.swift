// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// polkit's authentication agent, on whose behalf polkit's helper asks: for the daemon it is the
/// agent that has to be at this machine.
///
/// The process is held by a pidfd, so that its number still means the same process at the end.
final class Agent {
    /// Its process id.
    let process: UInt32
    /// The user that it was when it connected the helper's standard input; nil where it started the
    /// helper itself.
    let user: UInt32?
    private let handle: Descriptor

    private init(process: pid_t, user: UInt32? = nil, handle: consuming Descriptor) {
        self.process = UInt32(clamping: process)
        self.user = user
        self.handle = handle
    }

    /// Finds the agent of this process; nil where it cannot be told.
    ///
    /// From polkit 127 on the helper is a service of root's, and its standard input is the agent's
    /// socket. Before, the agent starts it with a setuid bit: then the real uid is the agent's, and
    /// what is on standard input is the agent's to choose and tells nothing.
    static func find() -> Agent? {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        let isSocket = unsafe getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &kind, &length) == 0
        return getuid() == 0 && isSocket ? behindSocket() : parent()
    }

    /// Whether it is still there.
    var isAlive: Bool {
        var request = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&request, 1, 0) == 0
    }

    private static func behindSocket() -> Agent? {
        guard let peer = Connection.peer(of: STDIN_FILENO), peer.pid > 0 else { return nil }
        // The kernel's own handle on the peer, where it gives one: it cannot be another process's.
        guard let handle = Descriptor(adopting: peer_handle(STDIN_FILENO)) else {
            return current_errno() == ENOPROTOOPT ? opened(peer.pid, user: peer.uid) : nil
        }
        return Agent(process: peer.pid, user: peer.uid, handle: handle)
    }

    private static func parent() -> Agent? {
        let number = getppid()
        // Once it is held it is either still the parent, or was not.
        guard number > 1, let agent = opened(number), getppid() == number else { return nil }
        return agent
    }

    private static func opened(_ process: pid_t, user: UInt32? = nil) -> Agent? {
        guard let handle = Descriptor(adopting: process_handle(process)) else { return nil }
        return Agent(process: process, user: user, handle: handle)
    }
}
