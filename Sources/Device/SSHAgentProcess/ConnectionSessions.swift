// SPDX-License-Identifier: Apache-2.0
import Crypto
import SSHAgentProtocol
import SignedFormats

/// A session of which the host's own signature has shown that it is with that host.
///
/// Only the initialiser below makes one, after OpenSSL has verified the signature.
package struct ProvenSession: Equatable, Sendable {
    /// The session's id.
    package let sessionID: [UInt8]
    /// The host's key.
    package let host: SSHHostKey
    /// The SHA-256 of that key.
    package let fingerprint: HostFingerprint
    /// Whether the connection is forwarded to the host, rather than used to log in there.
    package let isForwarding: Bool

    /// Why a binding proves nothing.
    package enum Fault: Error, Equatable {
        /// The host key or the signature has another form, or an algorithm that is not accepted.
        case form(SSHFault)
        /// The host has not signed this session.
        case notSigned
        /// libcrypto failed.
        case crypto(CryptoFault)
    }

    /// Verifies the host's signature over the session id.
    package init(verifying binding: SessionBinding) throws(Fault) {
        let host: SSHHostKey
        let key: HostPublicKey
        let signature: HostSignature
        do throws(SSHFault) {
            host = try SSHHostKey(blob: binding.hostKey)
            key = try HostPublicKey(host)
            signature = try HostSignature(binding.signature, for: key)
        } catch { throw .form(error) }
        let digest: [UInt8]
        do throws(CryptoFault) {
            guard try key.verifies(signature, over: binding.sessionID) else {
                throw CryptoFault.notAuthentic
            }
            digest = try SHA256.digest(host.plain)
        } catch {
            throw error == .notAuthentic ? .notSigned : .crypto(error)
        }
        guard let fingerprint = HostFingerprint(digest: digest) else { throw .notSigned }
        self.host = host
        self.fingerprint = fingerprint
        sessionID = binding.sessionID
        isForwarding = binding.isForwarding
    }
}

/// The sessions that one connection to the agent is bound to, from this machine outwards.
///
/// Each is with a host that the connection was forwarded to; the last may be one to log in at, and
/// nothing follows it. A binding that fails makes the connection useless for good, since what would
/// be signed over it could no longer be named.
package struct ConnectionSessions: Equatable, Sendable {
    /// The sessions in their order.
    package private(set) var list: [ProvenSession] = []
    /// Whether a binding has failed.
    package private(set) var hasFailed = false

    /// Why a session is not added.
    package enum Fault: Error, Equatable {
        /// The connection is for a login already.
        case afterLogin
        /// The session is bound already, with this host or another one.
        case duplicate
        /// There are `AgentLimit.sessions`.
        case tooMany
        /// A binding has failed before.
        case failedBefore
    }

    /// A connection that is bound to no session.
    package init() {}

    /// The last session.
    package var last: ProvenSession? { list.last }

    /// Whether the connection comes from another machine: its first session is a forwarding one.
    package var isForwarded: Bool { list.first?.isForwarding ?? false }

    /// Adds a session; one that cannot be added makes the connection useless.
    package mutating func add(_ session: ProvenSession) throws(Fault) {
        do throws(Fault) {
            guard !hasFailed else { throw .failedBefore }
            guard list.allSatisfy(\.isForwarding) else { throw .afterLogin }
            guard !list.contains(where: { $0.sessionID == session.sessionID }) else {
                throw .duplicate
            }
            guard list.count < AgentLimit.sessions else { throw .tooMany }
            list.append(session)
        } catch {
            hasFailed = true
            throw error
        }
    }

    /// Notes that a binding has failed.
    package mutating func fail() { hasFailed = true }

    /// The way of the connection.
    package var path: SessionPath {
        SessionPath(
            hosts: list.map(\.fingerprint), arrives: list.last.map { !$0.isForwarding } ?? false)
    }
}
