// SPDX-License-Identifier: Apache-2.0
import Domain
import SSHAgentProtocol
import SignedFormats

/// What is known of the program at the other end of a connection, apart from its name.
package struct PeerKind: Equatable, Sendable {
    /// Whether a program asks for itself or passes on others' requests, as far as its name tells.
    package enum Role: Equatable, Sendable {
        /// For itself.
        case client
        /// For itself, or for a host that it forwards to; its bindings say which.
        case ssh
        /// For others, whatever it binds the connection to; or the program cannot be told.
        case relay
    }

    /// Whether it asks for itself or passes on others' requests.
    package var role: Role
    /// Whether it runs in a remote session, or where it runs cannot be told.
    package var isRemote: Bool

    /// Describes a program.
    package init(_ role: Role, isRemote: Bool) {
        self.role = role
        self.isRemote = isRemote
    }
}

/// Decides what the agent has signed, as far as the connection says where it leads.
///
/// It lets through only what it can name. Whether data have a form that may be signed at all is
/// signetd's decision, after this one, and so is the touch.
package struct SigningPolicy: Sendable {
    private let settings: AgentSettings

    /// Applies a user's settings.
    package init(_ settings: AgentSettings) { self.settings = settings }

    /// Why the agent does not have data signed.
    package enum Refusal: Error, Equatable, CaseIterable {
        /// A binding of the connection to a session has failed.
        case failedBinding
        /// The login belongs to another session than the one the connection is bound to.
        case otherSession
        /// The login states another host than the session's.
        case otherHost
        /// The login states no host, and the session is not the first one of the connection.
        case hostNotStated
        /// The key's destinations do not permit this.
        case destination
        /// The connection is forwarded, and does not say where it leads.
        case unnamedForwarding
        /// The program does not say which session it asks for, and the user forbids that.
        case unbound
    }

    /// What signetd is told of the way of a request.
    package struct Way: Equatable, Sendable {
        /// The hosts that the request was forwarded by, from this machine outwards.
        package let forwarders: [HostFingerprint]
        /// The host of the session; nil if the connection is bound to none.
        package let host: HostFingerprint?

        static let here = Way(forwarders: [], host: nil)
    }

    /// The way of a request that may be signed; throws for one that may not.
    package func way(
        of content: SSHSignedData, over sessions: ConnectionSessions, from peer: PeerKind,
        by key: SSHKeyName
    ) throws(Refusal) -> Way {
        guard !sessions.hasFailed else { throw .failedBinding }
        // What these bind a connection to is what another machine says.
        if peer.isRemote || peer.role == .relay { try requireUnnamed() }
        let rules = settings.destinations[key]
        guard let last = sessions.last else {
            guard rules == nil else { throw .destination }
            guard peer.role == .client, !peer.isRemote else {
                try requireUnnamed()
                return .here
            }
            guard case .authentication = content, !settings.allowsUnbound else { return .here }
            throw .unbound
        }
        guard !last.isForwarding else {
            // A program on the last host asks, and says no more.
            guard rules == nil else { throw .destination }
            try requireUnnamed()
            return Way(forwarders: sessions.path.hosts, host: nil)
        }
        // ssh binds its connection for a login, and has nothing else to sign over it.
        guard case .authentication(let login) = content, login.sessionID == last.sessionID else {
            throw .otherSession
        }
        // A host that the connection was forwarded to could have signed another host's session with a
        // key of its own. Only a host key in the signed data shows where such a login leads.
        guard login.hostKey != nil || sessions.list.count == 1 else { throw .hostNotStated }
        if let stated = login.hostKey, stated != last.host { throw .otherHost }
        if let rules {
            guard sessions.path.isPermitted(by: rules, user: login.user) else {
                throw .destination
            }
        }
        return Way(forwarders: sessions.path.hosts.dropLast(), host: last.fingerprint)
    }

    /// Whether a key is in the list for a connection.
    package func lists(_ key: SSHKeyName, over sessions: ConnectionSessions) -> Bool {
        guard !sessions.hasFailed else { return false }
        guard let rules = settings.destinations[key], !sessions.list.isEmpty else { return true }
        return sessions.path.isPermitted(by: rules, user: nil)
    }

    private func requireUnnamed() throws(Refusal) {
        guard settings.allowsUnnamedForwarding else { throw .unnamedForwarding }
    }
}

extension SigningPolicy.Refusal {
    /// What happened, why, and what to do, for the journal.
    package var text: String {
        switch self {
        case .failedBinding: "the connection's host has not proven its session"
        case .otherSession: "the request belongs to another session than the connection's"
        case .otherHost: "the request states another host than the session's"
        case .hostNotStated:
            "the request was forwarded, and does not state its host: only servers of OpenSSH 8.9 and later have it stated; use 'ssh -J' instead of 'ssh -A'"
        case .destination:
            "the key's destinations do not permit it: see 'destinations' in agent.conf"
        case .unnamedForwarding:
            "the request was forwarded, and does not say where it leads: 'unnamed-forwarding = yes' in agent.conf would permit that"
        case .unbound:
            "the program does not say which session it asks for: 'unbound = yes' in agent.conf would permit that"
        }
    }
}
