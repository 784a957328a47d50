// SPDX-License-Identifier: Apache-2.0
import LoginProtocol
import Posix
import Systemd

/// The user who causes a request: not always the account that it is for.
package struct Requester: Equatable, Sendable {
    /// The user's number.
    package let uid: UInt32
    /// The login name, or the number where the machine knows no name.
    package let name: Bytes

    /// A user by number and name.
    package init(uid: UInt32, name: Bytes) {
        self.uid = uid
        self.name = name
    }

    init(_ account: Account) {
        self.init(uid: account.uid, name: Bytes(account.name.utf8))
    }
}

/// The process at the other end of a connection, as it was when the connection was accepted.
package struct ClientProcess: Sendable {
    /// Where a process is, as far as that can be found out.
    enum Placement: Equatable, Sendable {
        /// systemd keeps it here.
        case place(ProcessOrigin)
        /// logind does not run.
        case withoutLogind
        /// It could not be found out, or the process has ended.
        case unknown
    }

    /// Its number and users at connect(2).
    package let credentials: PeerCredentials
    /// Whose share of places and turns it uses up: its own user; for a program with root's rights the
    /// owner of its session, else the user that started it, else the one that logged in. Uids that a
    /// user gave to containers are that user's.
    package let accountable: UInt32
    /// The process, nil where it could not be held.
    let process: (any HeldProcess)?
    let placement: Placement
}

extension PresenceFacts {
    /// Holds the process that connected a socket; to be called right after accept(2).
    ///
    /// Throws only where the socket does not tell the peer's user. A process that cannot be held is
    /// nowhere, and gets no touch.
    package func client(on socket: borrowing Descriptor) throws(SystemFault) -> ClientProcess {
        let peer = try PeerCredentials(of: socket)
        return client(peer, try? ProcessHandle.holding(peerOf: socket, peer))
    }

    /// The same for a process that is held already.
    func client(_ peer: PeerCredentials, _ process: (any HeldProcess)?) -> ClientProcess {
        let placement = placement(of: process)
        return ClientProcess(
            credentials: peer, accountable: accountable(peer, process, placement),
            process: process, placement: placement)
    }

    /// Where a process is now.
    func placement(of process: (any HeldProcess)?) -> ClientProcess.Placement {
        guard let process else { return .unknown }
        guard hasLogind else { return process.hasEnded ? .unknown : .withoutLogind }
        guard let place = try? place(of: process), !process.hasEnded else { return .unknown }
        return .place(place)
    }

    private func accountable(
        _ peer: PeerCredentials, _ process: (any HeldProcess)?,
        _ placement: ClientProcess.Placement
    ) -> UInt32 {
        var uid = peer.uid
        // The login's number is the last to be believed: where none was set, any program may set one.
        if peer.uid == 0, let process,
            let cause = owner(of: placement) ?? starter(of: process)
                ?? (try? process.loginUID()) ?? nil,
            !process.hasEnded
        {
            uid = cause
        }
        return owner(ofSubordinate: uid) ?? uid
    }

    /// The user that started a program with root's rights; nil where that was root.
    private func starter(of process: any HeldProcess) -> UInt32? {
        guard let uid = try? process.realUID(), uid != 0 else { return nil }
        return uid
    }

    private func owner(of placement: ClientProcess.Placement) -> UInt32? {
        switch placement {
        case .place(.session(let id)): (try? session(id))?.owner
        case .place(.userManager(let uid)): uid
        case .place(.systemUnit), .place(.outside), .withoutLogind, .unknown: nil
        }
    }
}
