// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import SSHAgentProtocol

/// The agent for all other keys, on a connection of its own for each client.
///
/// It is connected when it is first needed, and told of the client's sessions in their order, so that it
/// applies its constraints as if the client had asked it directly. Each message goes to it and comes
/// back as it is. One that has heard of some sessions only is given up: it would take the connection for
/// another one than it is.
@ServiceActor
final class UpstreamAgent {
    private let path: String
    private let host: AgentHost
    private var stream: AgentStream?
    private var bindings: [[UInt8]] = []
    /// What the bindings over the present connection came to.
    private var outcomes: Set<Bool> = []
    private var isGivenUp = false
    /// Whether it is still to be found out if the way leads back here.
    private var mayLeadBack: Bool

    /// How long a touch or a question that the other agent asks for may take.
    private static let patience = Duration.seconds(300)

    /// The agent at a path.
    ///
    /// - Parameter mayLeadBack: whether the client may be another agent, which this one may be asking.
    init(_ path: String, host: AgentHost, mayLeadBack: Bool) {
        self.path = path
        self.host = host
        self.mayLeadBack = mayLeadBack
    }

    /// How long it may take for what needs no person.
    private var limit: Duration { host.paths.answerLimit }

    /// Passes a binding on, now or when the agent is connected; it verifies the binding itself.
    func bind(_ message: [UInt8]) async {
        // It would refuse more, too, and must not be asked without knowing of all.
        guard bindings.count < 2 * AgentLimit.sessions else { return giveUp() }
        bindings.append(message)
        if let stream { _ = await tell(message, over: stream) }
    }

    /// Asks the other agent nothing more for this client.
    func giveUp() {
        isGivenUp = true
        end()
    }

    /// Passes a message on, and returns the answer; nil if there is none.
    func ask(_ message: [UInt8]) async -> [UInt8]? {
        guard let stream = await connected() else { return nil }
        return await exchange(message, on: stream, within: Self.patience)
    }

    /// Passes a token on, and returns the answer; nil if there is none.
    func pass(_ token: AgentLoopToken) async -> [UInt8]? {
        guard let stream = await connected(checks: false) else { return nil }
        return await exchange(token.message, on: stream, within: limit)
    }

    /// Asks for the list of keys; empty if there is none.
    func identities() async -> [AgentIdentity] {
        guard let stream = await connected(),
            let answer = await exchange(AgentRequest.listMessage, on: stream, within: limit)
        else { return [] }
        return (try? AgentAnswer.identities(parsing: answer)) ?? []
    }

    /// Closes the connection.
    func end() {
        stream?.close()
        stream = nil
    }

    /// The connection, over which all sessions are bound; nil if there is none, or if the way leads
    /// back here.
    private func connected() async -> AgentStream? {
        guard let stream = await connected(checks: mayLeadBack) else { return nil }
        return isGivenUp ? nil : stream
    }

    /// Connects, and finds out first whether the way leads back here if wanted.
    ///
    /// A token of another agent is passed on without that: each agent on the way would send one of its
    /// own before, and none would ever arrive.
    private func connected(checks: Bool) async -> AgentStream? {
        guard !isGivenUp else { return nil }
        if let stream {
            guard checks else { return stream }
            return await leadsOn(stream) ? stream : nil
        }
        let new: AgentStream
        do throws(AgentStream.Fault) {
            new = try AgentStream.connect(to: path, own: host.own)
        } catch {
            switch error {
            case .absent: break
            case .anotherUser:
                host.complain("another user listens at 'upstream', \(path): it is not asked")
            case .ourselves:
                host.complain("'upstream' is this agent itself: name another agent's socket")
            }
            return nil
        }
        stream = new
        outcomes = []
        if checks {
            guard await leadsOn(new) else { return nil }
        }
        for binding in bindings {
            guard await tell(binding, over: new) else { return nil }
        }
        return new
    }

    /// Finds out whether the way does not lead back here; false if it does, or cannot be asked.
    private func leadsOn(_ stream: AgentStream) async -> Bool {
        guard let bytes = try? randomBytes(AgentLoopToken.count),
            let token = AgentLoopToken(random: bytes), host.begin(token)
        else { return false }
        defer { host.end(token) }
        guard let answer = await exchange(token.message, on: stream, within: limit) else {
            return false
        }
        guard AgentAnswer.isSuccess(answer) else {
            mayLeadBack = false
            return true
        }
        host.complain(
            "'upstream', \(path), leads back to this agent: of two agents, only one may name the other"
        )
        giveUp()
        return false
    }

    /// Tells it of a session; false if it cannot be asked any more.
    ///
    /// One that refuses every binding is an agent without the extension, which restricts nothing by them.
    private func tell(_ binding: [UInt8], over stream: AgentStream) async -> Bool {
        guard let answer = await exchange(binding, on: stream, within: limit) else { return false }
        outcomes.insert(AgentAnswer.isSuccess(answer))
        guard outcomes.count == 1 else {
            host.complain("the other agent has refused one of several sessions: it is not asked")
            giveUp()
            return false
        }
        return true
    }

    private func exchange(
        _ message: [UInt8], on stream: AgentStream, within limit: Duration
    ) async -> [UInt8]? {
        guard await stream.send(message, within: self.limit),
            let answer = await stream.next(within: limit)
        else {
            end()
            return nil
        }
        return answer
    }
}
