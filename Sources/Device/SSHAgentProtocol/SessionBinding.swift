// SPDX-License-Identifier: Apache-2.0
import SignedFormats

/// What an ssh client says of the session that its connection to the agent is for:
/// `session-bind@openssh.com` of PROTOCOL.agent.
///
/// Only the form is checked here. Whether the host has signed the session is for `ProvenSession`
/// to verify, and nothing may be believed of a binding before.
package struct SessionBinding: Equatable, Sendable {
    /// The host key that the server has shown, or its certificate.
    package let hostKey: [UInt8]
    /// The session's id: the hash of its first key exchange.
    package let sessionID: [UInt8]
    /// The host's signature over the session id.
    package let signature: [UInt8]
    /// Whether the connection is forwarded to the host, rather than used to log in there.
    package let isForwarding: Bool

    private static let longestSignature = 4_096

    init(from reader: inout SSHReader) throws(SSHFault) {
        hostKey = try reader.string(cap: SSHHostKey.longest)
        sessionID = try reader.string(cap: AgentLimit.sessionID)
        signature = try reader.string(cap: Self.longestSignature)
        guard !hostKey.isEmpty, !sessionID.isEmpty, !signature.isEmpty else { throw .malformed }
        switch try reader.byte() {
        case 0: isForwarding = false
        case 1: isForwarding = true
        default: throw .malformed
        }
    }
}
