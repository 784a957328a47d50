// SPDX-License-Identifier: Apache-2.0
import MainContext
import SSHAgentProtocol

/// The agent for all other keys, on a connection of its own for each client.
///
/// It is connected when it is first needed, and told of the client's sessions in their order, so that it
/// applies its constraints as if the client had asked it directly. Each message goes to it and comes
/// back as it is.
@ServiceActor
final class UpstreamAgent {
    private let path: String
    private let limit: Duration
    private var stream: AgentStream?
    private var bindings: [[UInt8]] = []
    private var isGivenUp = false

    /// How long a touch or a question that the other agent asks for may take.
    private static let patience = Duration.seconds(300)

    /// The agent at a path; `limit` is for what needs no person.
    init(_ path: String, limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Passes a binding on, now or when the agent is connected; it verifies the binding itself.
    func bind(_ message: [UInt8]) async {
        // It would refuse more, too, and must not be asked without knowing of all.
        guard bindings.count < 2 * AgentLimit.sessions else {
            isGivenUp = true
            return end()
        }
        bindings.append(message)
        if let stream { _ = await exchange(message, on: stream, within: limit) }
    }

    /// Passes a message on, and returns the answer; nil if there is none.
    func ask(_ message: [UInt8]) async -> [UInt8]? {
        guard let stream = await connected() else { return nil }
        return await exchange(message, on: stream, within: Self.patience)
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

    /// The connection, over which all sessions are bound; nil if there is none.
    private func connected() async -> AgentStream? {
        guard !isGivenUp else { return nil }
        if let stream { return stream }
        guard let new = AgentStream.connect(to: path) else { return nil }
        stream = new
        for binding in bindings {
            guard await exchange(binding, on: new, within: limit) != nil else { return nil }
        }
        return new
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
