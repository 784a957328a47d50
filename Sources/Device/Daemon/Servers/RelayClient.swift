// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import MainContext
import Posix

/// Sends requests to servers through `signet-relay`, over one connection each.
///
/// The socket must belong to root. The relay serves only a few requests at once
/// (`RelayService.limit`), so each account may have `perAccount` in progress. A request that the
/// caller gives up goes on in the relay; its answer is still received and settled.
@ServiceActor
final class RelayClient {
    /// How many requests of one account may be in progress.
    private static let perAccount = 4

    private let path: String
    /// How long the relay may take to answer.
    let limit: Duration
    private var underWay: [UInt32: Int] = [:]
    /// How many requests are in progress whose answer the daemon awaits before it exits.
    private var decisive = 0
    private var isEnding = false
    private var allHeard: CheckedContinuation<Void, Never>?
    /// Called when no request is in progress any more.
    var becameQuiet: () -> Void = {}

    /// Uses the relay's socket at a path, with a time limit for its answers.
    init(path: String, limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Sends a request for an account and returns the relay's answer, or `unreachable` if there is
    /// none in time.
    ///
    /// Ends early if the caller's task is cancelled, and after `limit` if that is shorter than the
    /// client's own.
    ///
    /// - Parameters:
    ///   - account: the account's uid.
    ///   - settled: called exactly once with the final answer, also if the caller has given up and
    ///     the relay answers later.
    func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration? = nil,
        settled: @escaping Settled = { _, _ in }
    ) async -> RelayAnswer {
        await ask(request, for: account, within: limit, settled: settled) { _ in true }
    }

    /// Receives the relay's answer, or that there was none, and whether it came after the caller
    /// gave up.
    typealias Settled = @ServiceActor (_ answer: RelayAnswer, _ isLate: Bool) -> Void

    private func isFull(for account: UInt32) -> Bool {
        underWay[account, default: 0] >= Self.perAccount
    }

    private func enter(_ account: UInt32, request: RelayRequest) {
        underWay[account, default: 0] += 1
        if request.isDecisive { decisive += 1 }
    }

    /// Ends a request: its result is settled before the client is reported as quiet.
    private func leave(_ account: UInt32, request: RelayRequest, _ settle: () -> Void) {
        let left = underWay[account, default: 1] - 1
        underWay[account] = left > 0 ? left : nil
        settle()
        if request.isDecisive { decisive -= 1 }
        if decisive == 0 { stopWaiting() }
        if isQuiet { becameQuiet() }
    }

    /// Waits for the answer to a request that the caller has given up.
    ///
    /// The account's place stays occupied until then; otherwise an account that gives up again and
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
                "the account asks servers too often at once", isRepeatable: true)
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

    private func send(_ request: RelayRequest) -> Result<RelayWire, NoRelay> {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path)
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                return .failure(
                    NoRelay("somebody else than root listens at \(path)", isRepeatable: true))
            }
            guard let frame = try? request.encoded() else {
                return .failure(
                    NoRelay("the request does not fit a frame", isRepeatable: false))
            }
            guard case .whole = try socket.send(frame) else {
                return .failure(NoRelay("signet-relay takes no request", isRepeatable: true))
            }
            return .success(RelayWire(socket))
        } catch {
            return .failure(
                NoRelay(
                    "signet-relay is not running: \(error). See 'systemctl status signet-relay.socket'",
                    isRepeatable: error.operation == "connect"))
        }
    }

    private func answer(over wire: RelayWire, within limit: Duration) async -> RelayAnswer {
        let number = wire.socket.descriptor.number
        let (ready, _) = await limited(to: limit) { await FileWatch.ready(number, for: .readable) }
        guard !ready.isEmpty else { return .silent }
        // This also happens if the relay has no room for another request and closes the connection.
        guard case .packet(let packet)? = try? wire.socket.receive(limit: Frame.maximumLength),
            let answer = try? RelayAnswer(decoding: packet)
        else { return .unusable("signet-relay gave no answer", isRepeatable: false) }
        return answer
    }
}

extension RelayClient {
    /// Whether no request is in progress, including those that the caller has given up.
    var isQuiet: Bool { underWay.isEmpty }

    /// Refuses new requests from now on.
    func close() { isEnding = true }

    /// Waits, for at most `patience`, for the answers without which a server and this device would
    /// disagree.
    func hearOut(within patience: Duration) async {
        guard decisive > 0, patience > .zero else { return }
        let limit = Timer(after: patience) { [weak self] in self?.stopWaiting() }
        await withCheckedContinuation { continuation in
            // The last answer may have arrived before this continuation was created.
            if decisive == 0 { continuation.resume() } else { allHeard = continuation }
        }
        limit.cancel()
    }

    private func stopWaiting() {
        allHeard?.resume()
        allHeard = nil
    }
}

extension RelayRequest {
    /// Whether the server's answer has a lasting effect, there or on a key here.
    fileprivate var isDecisive: Bool {
        switch self {
        case .prove, .login, .remove, .macToken, .decide, .endMACToken: true
        case .register, .challenge, .operations, .operation: false
        }
    }
}

/// The connection of one request, which lives until the relay has finished with it.
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
    /// Sends a request that is answered with any number of frames.
    ///
    /// - Returns: the operations that arrived, and the answer that ended them.
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
}

extension RelayAnswer {
    fileprivate static let silent = unusable(
        "signet-relay does not answer in time", isRepeatable: false)

    fileprivate static func unusable(_ why: String, isRepeatable: Bool) -> RelayAnswer {
        .unreachable(why: Bytes(why.utf8.prefix(Limit.text)), isRepeatable: isRepeatable)
    }
}
