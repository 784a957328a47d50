// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import SSHAgentProtocol
import SSHProtocol
import SignedFormats

/// One client of the agent: its sessions, and its requests, one after another.
@ServiceActor
final class AgentConnection {
    private let stream: AgentStream
    private let peer: AgentPeer
    private let host: AgentHost
    private let upstream: UpstreamAgent?
    private var sessions = ConnectionSessions()
    /// Since when the client has asked nothing, as time since boot; nil while a request is answered.
    private(set) var idleSince: Duration?

    init(_ stream: AgentStream, peer: AgentPeer, host: AgentHost) {
        self.stream = stream
        self.peer = peer
        self.host = host
        upstream = host.settings.upstream.map {
            UpstreamAgent($0, host: host, mayLeadBack: peer.passesOn)
        }
        idleSince = host.now
    }

    /// Ends the connection.
    func close() { stream.close() }

    /// Answers requests until the client closes the connection or breaks the protocol.
    func serve() async {
        while let message = await stream.next() {
            idleSince = nil
            let answer = await answer(message)
            guard await stream.send(answer, within: host.paths.answerLimit) else { break }
            idleSince = host.now
            host.changed()
        }
        upstream?.end()
        stream.close()
    }

    private func answer(_ message: [UInt8]) async -> [UInt8] {
        let request: AgentRequest
        do throws(SSHFault) {
            request = try AgentRequest(parsing: message)
        } catch {
            guard AgentRequest.meantToBind(message) else { return AgentAnswer.failure.message }
            host.complain("a binding to a session is malformed")
            sessions.fail()
            if host.lock.isLocked { upstream?.giveUp() } else { await upstream?.bind(message) }
            return AgentAnswer.extensionFailure.message
        }
        if host.lock.isLocked {
            switch request {
            case .identities: return AgentAnswer.identities([]).message
            case .unlock: break
            case .sign, .add, .remove, .removeAll, .removeToken, .lock, .bind, .query,
                .loopCheck, .otherExtension, .unknown:
                // What cannot be verified now must not be forgotten either. A locked agent does not
                // hear of it, and would later take the connection for one of this machine.
                if case .bind = request {
                    sessions.fail()
                    upstream?.giveUp()
                }
                return AgentAnswer.failure.message
            }
        }
        switch request {
        case .identities: return unlessLocked(await list(), otherwise: .identities([]))
        case .sign(let signing): return unlessLocked(await sign(signing, message: message))
        case .bind(let binding): return await bind(binding, message: message)
        case .remove(let blob): return await remove(blob, message: message)
        case .removeAll: return await removeAll(message)
        case .lock(let passphrase): return await lock(passphrase, message: message)
        case .unlock(let passphrase): return await unlock(passphrase, message: message)
        case .query: return AgentAnswer.extensions.message
        case .loopCheck(let token): return await check(token)
        case .add, .removeToken, .otherExtension, .unknown:
            return unlessLocked(await pass(message))
        }
    }

    /// An answer, unless the agent was locked while it was made.
    private func unlessLocked(
        _ answer: [UInt8], otherwise: AgentAnswer = .failure
    ) -> [UInt8] {
        host.lock.isLocked ? otherwise.message : answer
    }

    /// Answers whether the way on leads back here; no other agent says that it does.
    private func check(_ token: AgentLoopToken) async -> [UInt8] {
        guard host.begin(token) else { return AgentAnswer.success.message }
        defer { host.end(token) }
        return await upstream?.pass(token) ?? AgentAnswer.failure.message
    }

    /// Passes a message on to the other agent; a failure without one.
    private func pass(_ message: [UInt8]) async -> [UInt8] {
        await upstream?.ask(message) ?? AgentAnswer.failure.message
    }

    // MARK: Keys

    /// The keys that signetd has and that were not taken out; none if it cannot be asked.
    private func ownKeys() async -> [OwnKey] {
        do throws(SignetdFault) {
            let keys = try await host.keys.list()
            host.checkDestinations(of: keys.map(\.name))
            return keys.filter { $0.state == .good }.compactMap(OwnKey.init).filter {
                !host.hidesAll && !host.hidden.contains($0.content.identifier)
            }
        } catch {
            host.complain(error.text)
            return []
        }
    }

    private func list() async -> [UInt8] {
        var keys: [AgentIdentity] = await ownKeys().filter {
            host.policy.lists($0.content.name, over: sessions)
        }.map { AgentIdentity(keyBlob: $0.blob, comment: $0.content.name.bytes) }
        for other in await upstream?.identities() ?? []
        where !keys.contains(where: { $0.keyBlob == other.keyBlob }) {
            keys.append(other)
        }
        let message = AgentAnswer.identities(keys).message
        return message.count <= AgentLimit.message ? message : AgentAnswer.failure.message
    }

    /// The key of signetd's that a client means; nil if it is none.
    private func ownKey(_ blob: [UInt8]) async -> OwnKey? {
        guard (try? SSHPublicKey(blob: blob)) != nil else { return nil }
        return await ownKeys().first { $0.blob == blob }
    }

    private func sign(_ signing: AgentSigning, message: [UInt8]) async -> [UInt8] {
        guard let key = await ownKey(signing.keyBlob) else { return await pass(message) }
        let way: SigningPolicy.Way
        do throws(SSHSignable.Fault) {
            let signable = try SSHSignable(signing.data, by: .agent(key.key))
            do throws(SigningPolicy.Refusal) {
                way = try host.policy.way(
                    of: signable.content, over: sessions, from: peer.kind, by: key.content.name)
            } catch {
                host.complain("nothing is signed: \(error.text)")
                return AgentAnswer.failure.message
            }
        } catch {
            host.complain("nothing is signed: only logins with this key and SSHSIGs are")
            return AgentAnswer.failure.message
        }
        return await signature(signing.data, by: key, over: way)
    }

    /// Has signetd sign, and takes the request back if the client hangs up or the agent is locked.
    private func signature(
        _ data: [UInt8], by key: OwnKey, over way: SigningPolicy.Way
    ) async -> [UInt8] {
        let isForwarded = sessions.isForwarded
        guard !isForwarded || host.beginForwarded() else {
            host.complain("nothing is signed: another forwarded request awaits its touch")
            return AgentAnswer.failure.message
        }
        defer { if isForwarded { host.endForwarded() } }
        // It may have been locked while the keys were listed.
        guard !host.lock.isLocked else { return AgentAnswer.failure.message }
        var hangUp: FileWatch?
        var signature: SignetdCall?
        defer {
            hangUp?.cancel()
            if let signature { host.end(signature) }
        }
        do throws(SignetdFault) {
            let numbers = try await host.keys.sign(
                data, by: key.content.identifier, for: peer, over: way
            ) { call in
                signature = call
                host.begin(call)
                hangUp = FileWatch(stream.number, for: []) { _ in
                    hangUp?.cancel()
                    call.cancel()
                }
            }
            return AgentAnswer.signature(
                r: [UInt8](numbers.prefix(32)), s: [UInt8](numbers.suffix(32))
            ).message
        } catch {
            host.complain(error.text)
            return AgentAnswer.failure.message
        }
    }

    /// Hides a key until the agent ends; the key itself is not touched.
    private func remove(_ blob: [UInt8], message: [UInt8]) async -> [UInt8] {
        guard let key = await ownKey(blob) else { return await pass(message) }
        host.hide(key.content.identifier)
        return AgentAnswer.success.message
    }

    private func removeAll(_ message: [UInt8]) async -> [UInt8] {
        host.hideAll()
        guard let upstream else { return AgentAnswer.success.message }
        return await upstream.ask(message) ?? AgentAnswer.failure.message
    }

    // MARK: Sessions

    private func bind(_ binding: SessionBinding, message: [UInt8]) async -> [UInt8] {
        await upstream?.bind(message)
        do throws(ProvenSession.Fault) {
            let session = try ProvenSession(verifying: binding)
            do throws(ConnectionSessions.Fault) {
                try sessions.add(session)
                return AgentAnswer.success.message
            } catch { host.complain("a binding to a session is refused: \(error)") }
        } catch {
            sessions.fail()
            host.complain("a host has not proven its session: \(error)")
        }
        return AgentAnswer.extensionFailure.message
    }

    // MARK: Lock

    /// Locks this agent and the other one, or neither.
    private func lock(_ passphrase: [UInt8], message: [UInt8]) async -> [UInt8] {
        guard let number = host.lock.lock(passphrase) else { return AgentAnswer.failure.message }
        host.cancelSignatures()
        host.changed()
        guard let upstream else { return AgentAnswer.success.message }
        if let answer = await upstream.ask(message), AgentAnswer.isSuccess(answer) { return answer }
        host.lock.takeBack(number)
        host.changed()
        return AgentAnswer.failure.message
    }

    /// Unlocks this agent, and then the other one, which has a lock of its own.
    private func unlock(_ passphrase: [UInt8], message: [UInt8]) async -> [UInt8] {
        guard host.lock.unlock(passphrase, at: host.now) else {
            return AgentAnswer.failure.message
        }
        host.changed()
        if let upstream {
            let answer = await upstream.ask(message)
            if answer.map(AgentAnswer.isSuccess) != true {
                host.complain("the other agent was not unlocked")
            }
            // It may have been connected just now, and heard of no session while it was locked.
            upstream.end()
        }
        return AgentAnswer.success.message
    }
}

/// One of signetd's keys, with the blob that clients know it by.
private struct OwnKey {
    let content: SSHAgentKeyContent
    let key: SSHPublicKey
    let blob: [UInt8]

    init?(_ content: SSHAgentKeyContent) {
        guard let key = SSHPublicKey(content.publicKey) else { return nil }
        self.content = content
        self.key = key
        blob = key.blob
    }
}

extension SignetdFault {
    /// What happened, for the journal.
    fileprivate var text: String {
        switch self {
        case .absent: "signetd cannot be asked: see 'systemctl status signetd.socket'"
        case .denied(let reason): "signetd refused: \(reason)"
        }
    }
}
