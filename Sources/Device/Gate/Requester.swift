// SPDX-License-Identifier: Apache-2.0
import Domain
import LoginProtocol
import Posix
import Systemd

/// The user who causes a request, who need not be the owner of the account that the request is for.
package struct Requester: Equatable, Sendable {
    /// The user's uid.
    package let uid: UInt32
    /// The login name, or the uid in decimal if the account database does not know the uid.
    package let name: AccountName

    /// Creates a requester from uid and name.
    package init(uid: UInt32, name: AccountName) {
        self.uid = uid
        self.name = name
    }

    init(_ account: Account) {
        self.init(uid: account.uid, name: AccountName(account.name))
    }
}

/// The process at the other end of a connection, as it was when the connection was accepted.
///
/// Its credentials come from the kernel. The process is held, so that a later lookup by pid cannot
/// silently concern another process with the same pid.
package struct ClientProcess: Sendable {
    /// Where a process runs, as far as that is known.
    enum Placement: Equatable, Sendable {
        /// The session, service manager or unit to which systemd assigns the process.
        case place(ProcessOrigin)
        /// logind does not run.
        case withoutLogind
        /// The lookup failed, or the process has ended.
        case unknown
    }

    /// Whether logind does not run, so that no session tells where the client is.
    package var isWithoutLogind: Bool { placement == .withoutLogind }

    /// The peer's pid, uid and gid at connect(2).
    package let credentials: PeerCredentials
    /// The uid of the user whose limits, queue places and turns the client consumes.
    ///
    /// That is the client's own uid. For a program that runs as root, it is the owner of its
    /// session or service manager, else the user who started it (the real uid), else the user who
    /// logged in (the audit login uid). A subordinate uid counts as the user that subuid(5)
    /// assigns it to.
    package let accountable: UInt32
    /// The process; nil if it could not be held.
    let process: (any HeldProcess)?
    let placement: Placement

    /// The user who started the program: its real uid; nil if that cannot be read.
    package var starter: UInt32? {
        guard let process, let uid = try? process.realUID(), !process.hasEnded else { return nil }
        return uid
    }

    /// The name of the program, as it calls itself; nil if that cannot be read.
    ///
    /// It says nothing about what the program is, and must decide nothing that matters.
    package var programName: Bytes? {
        guard let process, let name = try? process.name(), !process.hasEnded else { return nil }
        return name
    }
}

extension PresenceFacts {
    /// Holds the process that connected a socket.
    ///
    /// Call it right after accept(2).
    ///
    /// A process that cannot be held has an unknown placement and is therefore denied every touch.
    /// Throws only if the socket does not report the peer's credentials.
    package func client(on socket: borrowing Descriptor) throws(SystemFault) -> ClientProcess {
        let peer = try PeerCredentials(of: socket)
        return client(peer, process: try? ProcessHandle.holding(peerOf: socket, peer: peer))
    }

    /// Describes a client whose process is already held, or could not be held.
    func client(_ peer: PeerCredentials, process: (any HeldProcess)?) -> ClientProcess {
        let placement = placement(of: process)
        return ClientProcess(
            credentials: peer,
            accountable: accountable(peer, process: process, placement: placement),
            process: process, placement: placement)
    }

    /// Returns where a process runs now; `unknown` if the lookup fails or the process has ended.
    func placement(of process: (any HeldProcess)?) -> ClientProcess.Placement {
        guard let process else { return .unknown }
        guard hasLogind else { return process.hasEnded ? .unknown : .withoutLogind }
        guard let place = try? place(of: process), !process.hasEnded else { return .unknown }
        return .place(place)
    }

    /// Returns the uid that answers for a client; see `ClientProcess.accountable`.
    private func accountable(
        _ peer: PeerCredentials, process: (any HeldProcess)?,
        placement: ClientProcess.Placement
    ) -> UInt32 {
        var uid = peer.uid
        // The login uid is trusted last: where none was set, any program may set one.
        if peer.uid == 0, let process,
            let cause = owner(of: placement) ?? starter(of: process)
                ?? (try? process.loginUID()) ?? nil,
            !process.hasEnded
        {
            uid = cause
        }
        return owner(ofSubordinate: uid) ?? uid
    }

    /// Returns the user who started a program that runs as root; nil if root did.
    private func starter(of process: any HeldProcess) -> UInt32? {
        guard let uid = try? process.realUID(), uid != 0 else { return nil }
        return uid
    }

    /// Returns the owner of the session or service manager in which a process runs; nil for any
    /// other placement or an unknown owner.
    private func owner(of placement: ClientProcess.Placement) -> UInt32? {
        switch placement {
        case .place(.session(let id)): (try? session(id))?.owner
        case .place(.userManager(let uid)): uid
        case .place(.systemUnit), .place(.outside), .withoutLogind, .unknown: nil
        }
    }
}
