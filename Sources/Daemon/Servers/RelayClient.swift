// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import Loop
import Posix

/// The way to servers: one connection to the relay for each request, proved to be to root's socket.
///
/// The relay has places for few requests at once (`RelayService.limit`): no account has all of them.
@ServiceActor
final class RelayClient {
    /// Requests of one account under way at the same time.
    private static let perAccount = 4

    private let path: String
    /// How long the relay may take for an answer.
    let limit: Duration
    private var underWay: [UInt32: Int] = [:]
    /// How many of those are under way whose answer the daemon waits for when it ends.
    private var decisive = 0
    private var isEnding = false
    private var allHeard: CheckedContinuation<Void, Never>?
    /// Hears that nothing is under way any more.
    var becameQuiet: () -> Void = {}

    /// To the relay at a path, which may take so long for an answer.
    init(path: String, limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Asks for an account, by its uid, and gives what the relay says; where there is none, or none
    /// in time, that.
    ///
    /// Ends early where the caller's task is cancelled, and after `limit` where that is shorter than
    /// the line's own. `settled` hears once what came of it: also of what nobody waits for any more,
    /// which the relay goes on with.
    func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration? = nil,
        settled: @escaping Settled = { _, _ in }
    ) async -> RelayAnswer {
        await ask(request, for: account, within: limit, settled) { _ in true }
    }

    /// The relay's answer, or that there is none, and whether it came too late to be waited for.
    typealias Settled = @ServiceActor (_ answer: RelayAnswer, _ isLate: Bool) -> Void

    private func isFull(for account: UInt32) -> Bool {
        underWay[account, default: 0] >= Self.perAccount
    }

    private func enter(_ account: UInt32, _ request: RelayRequest) {
        underWay[account, default: 0] += 1
        if request.isDecisive { decisive += 1 }
    }

    /// One is through: what it means is settled before anybody hears that nothing is under way.
    private func leave(_ account: UInt32, _ request: RelayRequest, _ settle: () -> Void) {
        let left = underWay[account, default: 1] - 1
        underWay[account] = left > 0 ? left : nil
        settle()
        if request.isDecisive { decisive -= 1 }
        if decisive == 0 { stopWaiting() }
        if isQuiet { becameQuiet() }
    }

    /// The relay goes on with a request that nobody waits for any more: the place is taken until it is
    /// through, or one account that gives up again and again would have them all.
    private func outlast(
        _ wire: RelayWire, _ account: UInt32, _ request: RelayRequest,
        _ settled: @escaping Settled
    ) {
        onService { [self] in
            let answer = await answer(over: wire, within: limit)
            leave(account, request) { settled(answer, true) }
        }
    }

    private func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration?,
        _ settled: @escaping Settled, _ isLast: (RelayAnswer) -> Bool
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
        enter(account, request)
        let limit = min(limit ?? self.limit, self.limit)
        var answer: RelayAnswer
        switch send(request) {
        case .failure(let why): answer = why.answer
        case .success(let wire):
            repeat {
                answer = await self.answer(over: wire, within: limit)
            } while !isLast(answer)
            guard answer != .silent else {
                outlast(wire, account, request, settled)
                return answer
            }
        }
        leave(account, request) { settled(answer, false) }
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
                    "signet-relay is not there: \(error). See 'systemctl status signet-relay.socket'",
                    isRepeatable: error.operation == "connect"))
        }
    }

    private func answer(over wire: RelayWire, within limit: Duration) async -> RelayAnswer {
        let number = wire.socket.descriptor.number
        let (ready, _) = await limited(to: limit) { await FileWatch.ready(number, for: .readable) }
        guard !ready.isEmpty else { return .silent }
        // Also where it has no room for one more request: it closes the connection then.
        guard case .packet(let packet)? = try? wire.socket.receive(limit: Frame.maximumLength),
            let answer = try? RelayAnswer(decoding: packet)
        else { return .unusable("signet-relay gave no answer", isRepeatable: false) }
        return answer
    }
}

extension RelayClient {
    /// Whether no request is under way, also none that nobody waits for any more.
    var isQuiet: Bool { underWay.isEmpty }

    /// Asks nobody any more.
    func close() { isEnding = true }

    /// Waits until the answers are heard without which a server and this device would disagree, for
    /// `patience` at most.
    func hearOut(within patience: Duration) async {
        guard decisive > 0, patience > .zero else { return }
        let limit = Timer(after: patience) { [weak self] in self?.stopWaiting() }
        await withCheckedContinuation { continuation in
            // An await lets others have their turn: the last answer may be here by now.
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
    /// Whether a server does something by it that lasts, or says of a key what holds from then on.
    fileprivate var isDecisive: Bool {
        switch self {
        case .prove, .login, .remove, .macToken, .decide, .endMACToken: true
        case .register, .challenge, .operations, .operation: false
        }
    }
}

/// The connection of one request, which lives until the relay is through with it.
private final class RelayWire: Sendable {
    let socket: PacketSocket

    init(_ socket: consuming PacketSocket) { self.socket = socket }
}

/// Why a request did not get to the relay.
private struct NoRelay: Error {
    let answer: RelayAnswer

    init(_ why: String, isRepeatable: Bool) {
        answer = .unusable(why, isRepeatable: isRepeatable)
    }
}

extension RelayClient {
    /// Asks for what is answered in any number of frames, for an account, and gives those that came,
    /// and what ended them.
    func list(
        _ request: RelayRequest, for account: UInt32
    ) async -> (operations: [OperationContent], end: RelayAnswer) {
        var operations: [OperationContent] = []
        let deadline = ContinuousClock.now + limit
        let end = await ask(request, for: account, within: limit, { _, _ in }) { answer in
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
