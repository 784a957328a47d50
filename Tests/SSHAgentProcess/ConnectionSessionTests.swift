// SPDX-License-Identifier: Apache-2.0
import Crypto
import SSHAgentProcess
import SSHAgentProtocol
import SignedFormats
import TestSupport
import Testing

@Suite("The sessions of a connection")
struct ConnectionSessionTests {
    private let host: TestHost

    init() throws { host = try TestHost() }

    private func session(
        _ number: UInt8, isForwarding: Bool = true
    ) throws -> ProvenSession {
        try host.session([UInt8](repeating: number, count: 32), isForwarding: isForwarding)
    }

    @Test("a session is proven by its host's signature over exactly its id")
    func proof() throws {
        let id = [UInt8](repeating: 1, count: 32)
        let proven = try host.session(id)
        #expect(proven.sessionID == id && proven.host.plain == host.blob)
        #expect(proven.fingerprint.digest == (try SHA256.digest(host.blob)))
        let other = try TestHost()
        for (key, session, signature) in [
            (host.blob, [UInt8](repeating: 2, count: 32), try host.signature(over: id)),
            (host.blob, id + [0], try host.signature(over: id)),
            (other.blob, id, try host.signature(over: id)),
            (host.blob, id, try other.signature(over: id)),
        ] {
            let binding = try TestHost.binding(key, session, signature)
            #expect(throws: ProvenSession.Fault.notSigned) {
                try ProvenSession(verifying: binding)
            }
        }
        let garbage = try TestHost.binding(host.blob, id, [1, 2, 3])
        #expect(throws: ProvenSession.Fault.form(.truncated)) {
            try ProvenSession(verifying: garbage)
        }
    }

    @Test("a connection is bound over several hosts, and to one login at the end")
    func path() throws {
        var sessions = ConnectionSessions()
        #expect(sessions.last == nil && sessions.path == SessionPath(hosts: [], arrives: false))
        try sessions.add(session(1))
        #expect(!sessions.path.arrives)
        try sessions.add(session(2, isForwarding: false))
        #expect(sessions.path.arrives && sessions.path.hosts.count == 2)
        #expect(!sessions.hasFailed)
    }

    @Test("a session twice, one after a login, and too many make the connection useless")
    func refusals() throws {
        var twice = ConnectionSessions()
        try twice.add(session(1))
        #expect(throws: ConnectionSessions.Fault.duplicate) { try twice.add(session(1)) }
        #expect(twice.hasFailed)
        #expect(throws: ConnectionSessions.Fault.failedBefore) { try twice.add(session(2)) }

        var after = ConnectionSessions()
        try after.add(session(1, isForwarding: false))
        #expect(throws: ConnectionSessions.Fault.afterLogin) { try after.add(session(2)) }
        #expect(after.hasFailed)

        var many = ConnectionSessions()
        for number in 0..<UInt8(AgentLimit.sessions) { try many.add(session(number)) }
        #expect(throws: ConnectionSessions.Fault.tooMany) { try many.add(session(99)) }
    }
}

/// A host with a key of its own.
struct TestHost {
    private let key: P256PrivateKey
    let blob: [UInt8]

    init() throws {
        key = try P256PrivateKey.generate()
        blob = known(SSHPublicKey(point: key.publicPoint)).blob
    }

    /// The host's signature, as a client passes it on.
    func signature(over data: [UInt8]) throws -> [UInt8] {
        let numbers = try key.sign(data)
        var pair = SSHWriter()
        pair.put(unsigned: numbers.r)
        pair.put(unsigned: numbers.s)
        return SSHData.string("ecdsa-sha2-nistp256") + SSHData.string(pair.bytes)
    }

    static func binding(
        _ key: [UInt8], _ session: [UInt8], _ signature: [UInt8], isForwarding: Bool = false
    ) throws -> SessionBinding {
        let message = AgentData.bind(
            hostKey: key, session: session, signature: signature,
            isForwarding: isForwarding ? 1 : 0)
        guard case .bind(let binding) = try AgentRequest(parsing: message) else {
            throw TestFault.noFixture("a binding")
        }
        return binding
    }

    func session(_ id: [UInt8], isForwarding: Bool = false) throws -> ProvenSession {
        try ProvenSession(
            verifying: TestHost.binding(
                blob, id, signature(over: id), isForwarding: isForwarding))
    }
}
