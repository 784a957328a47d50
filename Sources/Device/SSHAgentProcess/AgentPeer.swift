// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Posix
import Systemd

/// The program at the other end of a connection to the agent: a process of the same user.
///
/// It is held, so that its number cannot denote another process. Its name is what it calls itself: that
/// suffices to recognise programs that honestly pass connections on, which are the ones by which another
/// machine's requests come here. A program of this user that hides its name could ask for itself.
struct AgentPeer: Sendable {
    private let process: ProcessHandle?

    /// Programs that pass connections on for others, by the names that the kernel shows.
    private static let relays: Set<String> = [
        "sshd", "sshd-session", "sshd-auth", "dbclient", "dropbear", "plink", "putty",
        "socat", "systemd-socket-",
    ]

    /// The peer of a connection; nil unless it runs as this process's user.
    ///
    /// Call it right after accept(2).
    init?(of socket: borrowing Descriptor) {
        guard let peer = try? PeerCredentials(of: socket), peer.uid == effectiveUID() else {
            return nil
        }
        process = try? ProcessHandle.holding(peerOf: socket, peer: peer)
    }

    /// What kind of program it is; one that has ended cannot be told.
    var kind: PeerKind {
        guard let process, let name = try? process.name() else {
            return PeerKind(.relay, isRemote: true)
        }
        return PeerKind(
            Self.role(String(decoding: name, as: UTF8.self)), isRemote: Self.isRemote(process))
    }

    /// Whether it passes on what others ask, so that this may come from this agent itself.
    var passesOn: Bool {
        guard let process, let name = try? process.name() else { return true }
        let text = String(decoding: name, as: UTF8.self)
        return text == Self.agent || Self.role(text) == .relay
    }

    /// The name of another agent of this kind.
    private static let agent = "signet-agent"

    private static func role(_ name: String) -> PeerKind.Role {
        if name == "ssh" { return .ssh }
        return relays.contains(name) ? .relay : .client
    }

    /// Whether a process is in a remote session, or logind does not say where it is.
    private static func isRemote(_ process: ProcessHandle) -> Bool {
        guard LoginRecord.isKept else { return false }
        guard let origin = try? ProcessOrigin(of: process.pid), !process.hasEnded else {
            return true
        }
        switch origin {
        case .session(let id): return (try? LoginSession(named: id))?.isRemote ?? true
        case .userManager, .systemUnit, .outside: return false
        }
    }

    /// The names of the program and of those that started it, as far as they run as the same user.
    var programs: SSHAgentPrograms {
        var names: [[UInt8]] = []
        var next = process
        while let process = next, names.count < SSHAgentPrograms.most {
            guard (try? process.realUID()) == effectiveUID(), let name = try? process.name(),
                let parent = try? process.parent()
            else { break }
            names.append(name)
            guard parent > 1, let held = try? ProcessHandle.holding(parent),
                (try? process.parent()) == parent
            else { break }
            next = held
        }
        return SSHAgentPrograms(names)
    }
}
