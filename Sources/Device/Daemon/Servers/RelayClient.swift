// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Sends requests to servers through `signet-relay`, each over its own connection.
///
/// The process that listens on the socket must run as root. The relay serves only a few requests at
/// a time (`RelayService.limit`), so each account may have at most `perAccount` in progress. A
/// request that the caller gives up continues in the relay, and its answer is still received and
/// settled.
@ServiceActor
final class RelayClient {
    /// The maximum number of requests of one account in progress.
    private static let perAccount = 4

    private let path: String
    /// How long the relay may take to answer.
    let limit: Duration
    private var underWay: [UInt32: Int] = [:]
    /// The number of requests in progress whose answer the daemon awaits before it exits.
    private var decisive = 0
    private var isEnding = false
    private var allHeard: CheckedContinuation<Void, Never>?
    /// Called when the last request in progress has ended.
    var becameQuiet: () -> Void = {}

    /// Uses the relay's socket at `path`; the relay's answers may take at most `limit`.
    init(path: String, limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Sends a request for an account and returns the relay's answer, or `unreachable` if there is
    /// none in time.
    ///
    /// The wait ends early if the caller's task is cancelled, and after `limit` if that is shorter
    /// than the client's own limit. Also returns `unreachable` at once if the daemon is stopping,
    /// the account has too many requests in progress, or the relay is not running as root.
    ///
    /// - Parameters:
    ///   - account: the account's uid.
    ///   - settled: called exactly once with the final answer, even if the caller has given up and
    ///     the relay answers later.
    func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration? = nil,
        settled: @escaping Settled = { _, _ in }
    ) async -> RelayAnswer {
        await ask(request, for: account, within: limit, settled: settled) { _ in true }
    }

    /// Receives the relay's answer, or `unreachable` if there was none, and whether the caller had
    /// given up by then.
    typealias Settled = @ServiceActor (_ answer: RelayAnswer, _ isLate: Bool) -> Void

    private func isFull(for account: UInt32) -> Bool {
        underWay[account, default: 0] >= Self.perAccount
    }

    private func enter(_ account: UInt32, request: RelayRequest) {
        underWay[account, default: 0] += 1
        if request.isDecisive { decisive += 1 }
    }

    /// Ends a request.
    ///
    /// Its result is settled before the client is reported as quiet.
    private func leave(_ account: UInt32, request: RelayRequest, _ settle: () -> Void) {
        let left = underWay[account, default: 1] - 1
        underWay[account] = left > 0 ? left : nil
        settle()
        if request.isDecisive { decisive -= 1 }
        if decisive == 0 { hearNoMore() }
        if isQuiet { becameQuiet() }
    }

    /// Waits for the answer to a request that the caller has given up, for at most the client's own
    /// limit.
    ///
    /// The account's place stays occupied until then. Otherwise an account that gives up again and
    /// again could use all places of the relay.
    private func outlast(
        _ wire: RelayWire, account: UInt32, request: RelayRequest,
        settled: @escaping Settled
    ) {
        onService { [self] in
            let answer = await answer(over: wire, within: limit)
            leave(account, request: request) { settled(answer, true) }
        }
    }

    /// Sends a request and receives answers until `isLast` accepts one; see
    /// `ask(_:for:within:settled:)`.
    private func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration?,
        settled: @escaping Settled, _ isLast: (RelayAnswer) -> Bool
    ) async -> RelayAnswer {
        guard !isEnding else {
            let ending = RelayAnswer.unusable("the daemon is stopping", isRepeatable: true)
            settled(ending, false)
            return ending
        }
        guard !isFull(for: account) else {
            let full = RelayAnswer.unusable(
                "the account has too many requests to servers at once", isRepeatable: true)
            settled(full, false)
            return full
        }
        enter(account, request: request)
        let limit = min(limit ?? self.limit, self.limit)
        var answer: RelayAnswer
        switch send(request) {
        case .failure(let why): answer = why.answer
        case .success(let wire):
            repeat {
                answer = await self.answer(over: wire, within: limit)
            } while !isLast(answer)
            guard answer != .silent else {
                outlast(wire, account: account, request: request, settled: settled)
                return answer
            }
        }
        leave(account, request: request) { settled(answer, false) }
        return answer
    }

    /// Connects to the relay and sends a request.
    ///
    /// A failure says whether it is worth repeating.
    private func send(_ request: RelayRequest) -> Result<RelayWire, NoRelay> {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path)
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                return .failure(
                    NoRelay("a process that is not root listens at \(path)", isRepeatable: true))
            }
            guard let frame = try? request.encoded() else {
                return .failure(
                    NoRelay("the request cannot be encoded", isRepeatable: false))
            }
            guard case .whole = try socket.send(frame) else {
                return .failure(
                    NoRelay("signet-relay did not accept the request", isRepeatable: true))
            }
            return .success(RelayWire(socket))
        } catch {
            return .failure(
                NoRelay(
                    "signet-relay is not running: \(error). See 'systemctl status signet-relay.socket'",
                    isRepeatable: error.operation == "connect"))
        }
    }

    /// Waits for one answer of the relay; `silent` if none arrives within `limit`.
    private func answer(over wire: RelayWire, within limit: Duration) async -> RelayAnswer {
        let number = wire.socket.descriptor.number
        let (ready, _) = await limited(to: limit) { await FileWatch.ready(number, for: .readable) }
        guard !ready.isEmpty else { return .silent }
        // The relay also closes the connection if it has no room for another request.
        guard case .packet(let packet)? = try? wire.socket.receive(limit: Frame.maximumLength),
            let answer = try? RelayAnswer(decoding: packet)
        else { return .unusable("signet-relay gave no valid answer", isRepeatable: false) }
        return answer
    }
}

extension RelayClient {
    /// Whether no request is in progress, including those that callers have given up.
    var isQuiet: Bool { underWay.isEmpty }

    /// Refuses new requests from now on.
    func close() { isEnding = true }

    /// Whether all answers have arrived without which a server and this device would disagree.
    var isHeardOut: Bool { decisive == 0 }

    /// Waits, for at most `patience`, for the answers without which a server and this device would
    /// disagree.
    func hearOut(within patience: Duration) async {
        guard decisive > 0, patience > .zero else { return }
        let limit = Timer(after: patience) { [weak self] in self?.hearNoMore() }
        await withCheckedContinuation { continuation in
            // The last answer may have arrived before this continuation was created.
            if decisive == 0 { continuation.resume() } else { allHeard = continuation }
        }
        limit.cancel()
    }

    /// Has `hearOut` wait no longer.
    func hearNoMore() {
        allHeard?.resume()
        allHeard = nil
    }
}

extension RelayRequest {
    /// Whether the server's answer has a lasting effect, at the server or on a key here.
    fileprivate var isDecisive: Bool {
        switch self {
        case .prove, .passwordKey, .login, .remove, .macToken, .decide, .endMACToken,
            .endSession, .endSessions:
            true
        case .register, .challenge, .operations, .operation, .requirements, .attest, .sessions:
            false
        }
    }
}

/// The connection of one request, which lives until the relay has finished with the request.
private final class RelayWire: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }
}

/// Why a request did not reach the relay.
private struct NoRelay: Error {
    let answer: RelayAnswer

    init(_ why: String, isRepeatable: Bool) {
        answer = .unusable(why, isRepeatable: isRepeatable)
    }
}

extension RelayClient {
    /// Sends a request that is answered by any number of operations and one final answer.
    ///
    /// At most `Limit.operations` operations are accepted, and no more once the client's time limit
    /// has passed.
    ///
    /// - Returns: the operations that arrived, and the answer that ended the list.
    func list(
        _ request: RelayRequest, for account: UInt32
    ) async -> (operations: [OperationContent], end: RelayAnswer) {
        var operations: [OperationContent] = []
        let deadline = ContinuousClock.now + limit
        let end = await ask(request, for: account, within: limit, settled: { _, _ in }) { answer in
            guard case .awaited(let awaited) = answer, operations.count < Limit.operations,
                ContinuousClock.now < deadline
            else { return true }
            operations.append(awaited.content)
            return false
        }
        return (operations, end)
    }

    /// Asks for a list of sessions; returns at most `Limit.sessions`, and the answer that ended it.
    ///
    /// The whole list has the time of one answer.
    func listSessions(
        _ request: RelayRequest, for account: UInt32
    ) async -> (sessions: [SessionContent], end: RelayAnswer) {
        var sessions: [SessionContent] = []
        let deadline = ContinuousClock.now + limit
        let end = await ask(request, for: account, within: limit, settled: { _, _ in }) { answer in
            guard case .session(let session) = answer, sessions.count < Limit.sessions,
                ContinuousClock.now < deadline
            else { return true }
            sessions.append(session)
            return false
        }
        return (sessions, end)
    }
}

extension RelayAnswer {
    fileprivate static let silent = unusable(
        "signet-relay did not answer in time", isRepeatable: false)

    fileprivate static func unusable(_ why: String, isRepeatable: Bool) -> RelayAnswer {
        .unreachable(why: Bytes(why.utf8.prefix(Limit.text)), isRepeatable: isRepeatable)
    }
}
