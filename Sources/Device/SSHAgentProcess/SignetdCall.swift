// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import MainContext
import Posix
import SSHAgentProtocol
import SSHProtocol

/// Why signetd did not do what it was asked.
enum SignetdFault: Error {
    /// It cannot be reached, is not root, answers nothing, or something that is not understood.
    case absent
    /// It has refused.
    case denied(DenialReason)
}

/// The requests of the agent to signetd, each on a connection of its own.
///
/// A daemon that hangs is given up, so that ssh goes on with its next key.
@ServiceActor
struct SignetdKeys {
    let paths: AgentPaths
    let account: AccountName

    /// How long the daemon is to wait for a touch.
    private static let touchMilliseconds: UInt32 = 60_000

    /// All keys, also those that no touch opens any more.
    func list() async throws(SignetdFault) -> [SSHAgentKeyContent] {
        var keys: [SSHAgentKeyContent] = []
        let call = try SignetdCall.begin(.sshAgentList(account: account), paths: paths)
        let last = try await call.last(whole: paths.startLimit) { answer in
            if let key: SSHAgentKeyAnswer = answer.own() { keys.append(key.content) }
        }
        guard let end: SSHKeyCountAnswer = last.own(), Int(end.count) == keys.count else {
            throw .absent
        }
        return keys
    }

    /// Has data signed, after a touch: r and s, 32 bytes each.
    ///
    /// - Parameter started: gets the call, which its client may cancel.
    func sign(
        _ data: Bytes, by key: SSHKeyID, for peer: AgentPeer, over way: SigningPolicy.Way,
        started: (SignetdCall) -> Void
    ) async throws(SignetdFault) -> Bytes {
        guard let forwarders = SSHHosts(way.forwarders.map(\.digest)),
            let host = SSHHosts(way.host.map { [$0.digest] } ?? [])
        else { throw .absent }
        let call = try SignetdCall.begin(
            .sshAgentSign(
                SSHAgentSignRequest(
                    account: account, timeoutMilliseconds: Self.touchMilliseconds, key: key,
                    data: data, programs: peer.programs, forwarders: forwarders, host: host)),
            paths: paths)
        started(call)
        let last = try await call.last(whole: paths.touchLimit) { _ in }
        guard let signature: SSHAgentSignatureAnswer = last.own(), signature.numbers.count == 64
        else { throw .absent }
        return signature.numbers
    }
}

/// One request to signetd in progress.
@ServiceActor
final class SignetdCall {
    private let socket: SignetdSocket
    private let paths: AgentPaths
    private var limit: Timer?
    private var isCancelled = false

    private init(_ socket: SignetdSocket, paths: AgentPaths) {
        self.socket = socket
        self.paths = paths
    }

    /// Connects and sends a request; the peer must have the daemon's uid.
    static func begin(
        _ request: Request, paths: AgentPaths
    ) throws(SignetdFault) -> SignetdCall {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: paths.daemon)
            guard try PeerCredentials(of: socket.descriptor).uid == paths.daemonUID,
                let packet = try? request.encoded(), case .whole = try socket.send(packet)
            else { throw SystemFault("connect", on: paths.daemon, code: 0) }
            return SignetdCall(SignetdSocket(socket), paths: paths)
        } catch { throw .absent }
    }

    /// Receives the answers, and returns the one that ends the request.
    ///
    /// The first answer must come within `paths.startLimit`, and each later one within `whole`.
    func last(
        whole: Duration, _ hear: (Answer) -> Void
    ) async throws(SignetdFault) -> Answer {
        let socket = socket
        limit = Timer(after: paths.startLimit) { socket.shutDown() }
        var end = Timer(after: whole) { socket.shutDown() }
        defer {
            limit?.cancel()
            end.cancel()
        }
        while true {
            _ = await FileWatch.ready(socket.number, for: .readable)
            let received: Received
            do throws(SystemFault) { received = try socket.receive() } catch { throw .absent }
            switch received {
            case .wouldBlock: continue
            case .end, .tooLong: throw .absent
            case .packet(let packet):
                if !isCancelled {
                    limit?.cancel()
                    end.cancel()
                    end = Timer(after: whole) { socket.shutDown() }
                }
                guard let answer = try? Answer(decoding: packet) else { throw .absent }
                switch answer {
                case .denial(let denial): throw .denied(denial.reason)
                case .own(let own) where own.meaning == .end: return answer
                default: hear(answer)
                }
            }
        }
    }

    /// Takes the request back, because the client is gone.
    func cancel() {
        isCancelled = true
        guard let packet = try? Request.cancel.encoded(), (try? socket.send(packet)) == .whole
        else {
            return socket.shutDown()
        }
        let socket = socket
        limit?.cancel()
        limit = Timer(after: paths.answerLimit) { socket.shutDown() }
    }
}

/// A class around a socket, so that several closures can use it.
private final class SignetdSocket: Sendable {
    private let socket: PacketSocket

    init(_ socket: consuming PacketSocket) {
        self.socket = socket
    }

    var number: Int32 { socket.descriptor.number }

    func receive() throws(SystemFault) -> Received {
        try socket.receive(limit: Frame.maximumLength)
    }

    func send(_ packet: Bytes) throws(SystemFault) -> Sent { try socket.send(packet) }

    func shutDown() { socket.shutDown() }
}
