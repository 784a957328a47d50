import Loop
import Posix
import Wire

/// The way to servers: one connection to the relay for each request, proved to be to root's socket.
///
/// The relay has places for few requests at once (`RelayService.limit`): no account has all of them.
@ServiceActor
final class RelayLine {
    /// Requests of one account under way at the same time.
    private static let perAccount = 4

    private let path: String
    private let limit: Duration
    private var underWay: [UInt32: Int] = [:]

    /// To the relay at a path, which may take so long for an answer.
    init(path: String, limit: Duration) {
        self.path = path
        self.limit = limit
    }

    /// Asks for an account, by its uid, and gives what the relay says; where there is none, or none
    /// in time, that.
    ///
    /// Ends early where the caller's task is cancelled, and after `limit` where that is shorter than
    /// the line's own.
    func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration? = nil
    ) async -> RelayAnswer {
        await ask(request, for: account, within: limit) { _ in true }
    }

    /// Whether an account has as many requests under way as it may: what the server would say is not
    /// known then, and that is the account's own doing.
    func isFull(for account: UInt32) -> Bool {
        underWay[account, default: 0] >= Self.perAccount
    }

    private func leave(_ account: UInt32) {
        let left = underWay[account, default: 1] - 1
        underWay[account] = left > 0 ? left : nil
    }

    /// The relay goes on with a request that nobody waits for any more: the place is taken as long, or
    /// one account that gives up again and again would have them all.
    private func leaveLater(_ account: UInt32) {
        onService { [self] in
            try? await Timer.sleep(for: limit)
            leave(account)
        }
    }

    private func ask(
        _ request: RelayRequest, for account: UInt32, within limit: Duration?,
        _ isLast: (RelayAnswer) -> Bool
    ) async -> RelayAnswer {
        guard !isFull(for: account) else {
            return .unusable("the account asks servers too often at once", isRepeatable: true)
        }
        underWay[account, default: 0] += 1
        var isAnswered = true
        defer { isAnswered ? leave(account) : leaveLater(account) }
        let limit = min(limit ?? self.limit, self.limit)
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path)
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                return .unusable("somebody else than root listens at \(path)", isRepeatable: true)
            }
            guard let frame = try? request.encoded() else {
                return .unusable("the request does not fit a frame", isRepeatable: false)
            }
            guard case .whole = try socket.send(frame) else { return .silent }
            isAnswered = false
            while true {
                let answer = try await answer(
                    over: socket.descriptor.number, socket, within: limit)
                guard isLast(answer) else { continue }
                isAnswered = answer != .silent
                return answer
            }
        } catch {
            return .unusable(
                "signet-relay is not there: \(error). See 'systemctl status signet-relay.socket'",
                isRepeatable: error.operation == "connect")
        }
    }

    private func answer(
        over number: Int32, _ socket: borrowing PacketSocket, within limit: Duration
    ) async throws(SystemFault) -> RelayAnswer {
        let (ready, _) = await limited(to: limit) { await FileWatch.ready(number, for: .readable) }
        guard !ready.isEmpty else { return .silent }
        guard case .packet(let packet) = try socket.receive(limit: Frame.maximumLength),
            let answer = try? RelayAnswer(decoding: packet)
        else { return .unusable("signet-relay gave no answer", isRepeatable: false) }
        return answer
    }
}

extension RelayLine {
    /// Asks for what is answered in any number of frames, for an account, and gives those that came,
    /// and what ended them.
    func list(
        _ request: RelayRequest, for account: UInt32
    ) async -> (operations: [OperationContent], end: RelayAnswer) {
        var operations: [OperationContent] = []
        let deadline = ContinuousClock.now + limit
        let end = await ask(request, for: account, within: limit) { answer in
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
