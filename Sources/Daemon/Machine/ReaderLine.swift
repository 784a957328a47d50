// SPDX-License-Identifier: Apache-2.0
import Loop
import Posix
import ReaderProtocol

/// The way to the process of the readers: one connection for each request, to root's socket.
///
/// signetd owns the deadlines: who does not answer in time is not waited for, who says what was not
/// asked for is not heard, and who does not end a request that was taken back is killed.
@ServiceActor
final class ReaderLine {
    /// How much longer than its limit a request may take: drivers take a while to be cancelled.
    private static let patience = Duration.seconds(6)

    /// The user that the process runs as.
    private static let user = "signet-reader"

    private let path: String
    private let unit: ReaderUnit
    private lazy var driver = try? Account.named(Self.user)?.uid
    private let complain: (String) -> Void
    private var isMissed = false

    /// To the socket at a path, where this unit listens; `complain` hears why nothing can be asked
    /// there.
    init(path: String, unit: ReaderUnit, complain: @escaping (String) -> Void) {
        self.path = path
        self.unit = unit
        self.complain = complain
    }

    /// Asks, and gives what `take` makes of a reply that ends the request; nil there means that more
    /// are to come. The request is cancelled with the caller's task.
    ///
    /// Throws `processEnded` where the process ends before, says what it may not, or hangs, and `timedOut`
    /// where it does not answer long after the limit. Except where it has ended by itself, it is killed
    /// then.
    func ask<Value: Sendable>(
        _ request: ReaderRequest, _ templates: [Template] = [], within limit: Duration,
        _ take: (ReaderReply, ReaderConversation) async throws(ReaderFault) -> Value?
    ) async throws(ReaderFault) -> Value {
        let conversation = try connect(within: limit + Self.patience)
        let reply: Result<Value, ReaderFault>
        do throws(ReaderFault) {
            reply = try await talk(request, templates, conversation, take)
        } catch {
            conversation.withdraw(error)
            throw error
        }
        conversation.close()
        return try reply.get()
    }

    /// What a request comes to; throws where that was not heard.
    private func talk<Value: Sendable>(
        _ request: ReaderRequest, _ templates: [Template], _ conversation: ReaderConversation,
        _ take: (ReaderReply, ReaderConversation) async throws(ReaderFault) -> Value?
    ) async throws(ReaderFault) -> Result<Value, ReaderFault> {
        // Whoever it is says so first: it may see no template otherwise.
        guard try await conversation.next() == .alive else { throw .processEnded }
        try await conversation.send(.request(request))
        for template in templates {
            for frame in ReaderQuestion.frames(of: template) { try await conversation.send(frame) }
        }
        while true {
            let reply = try await conversation.next()
            if case .fault(let fault) = reply {
                if case .general(let words) = fault {
                    complain("the fingerprint reader's driver reports: \(words)")
                }
                return .failure(fault)
            }
            if let value = try await take(reply, conversation) { return .success(value) }
        }
    }

    private func connect(within limit: Duration) throws(ReaderFault) -> ReaderConversation {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path, namingSenders: true)
            // Who listens is systemd; who answers is to be root, as in tests, or the one user.
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                throw SystemFault("connect", on: path, code: 13)
            }
            isMissed = false
            return ReaderConversation(socket, limit: limit, from: driver, unit)
        } catch {
            // Once, and not with each login.
            if !isMissed {
                complain(
                    "signet-reader is not there: \(error). See 'systemctl status signet-reader.socket'"
                )
            }
            isMissed = true
            throw .processEnded
        }
    }
}

/// One request, from its first frame to its last.
@ServiceActor
final class ReaderConversation {
    /// Replies that wait to be heard: a reader's prints and a template's parts, and some events.
    private static let cap = 4_096
    /// The bytes of them, and the packets that are read before others have their turn.
    private static let (bytes, turn) = (4 << 20, 64)
    /// Replies of one request, heard or not: twice what the longest list of prints or template needs.
    private static let total = 16_384
    /// How long the process may take to answer at all, as it is started; and be silent later on, when it
    /// says something every second, except while drivers are looking for their readers.
    private static let (arrival, silence) = (Duration.seconds(10), Duration.seconds(5))
    private static let search = Duration.seconds(15)
    /// How long what was taken back may go on: a little longer than the process itself gives drivers.
    private static let obedience = Duration.seconds(8)

    private let socket: PacketSocket
    private let unit: ReaderUnit
    private var watch: FileWatch?
    private var timer: Timer?
    /// The user that may answer, beside root.
    private let driver: UInt32?
    /// Fires where nothing was heard for a while.
    private var alarm: Timer?
    private var heard = 0
    /// Bytes of the replies that wait to be heard.
    private var size = 0
    private var replies: [(reply: ReaderReply, size: Int)] = []
    private var fault: ReaderFault?
    /// Whether the other end has closed.
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?
    /// The replies that came after the request was taken back.
    private var ignored = 0

    /// The process is killed where the request has not ended within the limit, and where it hangs
    /// before.
    fileprivate init(
        _ socket: consuming PacketSocket, limit: Duration, from driver: UInt32?, _ unit: ReaderUnit
    ) {
        self.socket = socket
        self.driver = driver
        self.unit = unit
        timer = Timer(after: limit) { [weak self] in self?.kill("does not answer", .timedOut) }
        watch = FileWatch(self.socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.receive()
        }
        listen(for: Self.arrival)
    }

    /// Waits for the next sign of life.
    private func listen(for limit: Duration) {
        alarm = Timer(after: limit) { [weak self] in self?.checkSilence() }
    }

    private func checkSilence() {
        let before = heard
        // It may be this process that was stopped, and what the other one said lies here.
        receive()
        guard heard == before, fault == nil else { return }
        kill("hangs", .processEnded)
    }

    /// Has the process killed, and ends the request when that is done: the next one gets another process.
    private func kill(_ why: String, _ fault: ReaderFault) {
        close()
        hasEnded = true
        onService { [self] in
            await unit.kill(why)
            end(fault)
        }
    }

    /// Sends a frame, as soon as the other end takes it.
    func send(_ question: ReaderQuestion) async throws(ReaderFault) {
        guard let frame = try? question.encoded() else { throw .invalidTemplate }
        while true {
            if let fault { throw fault }
            if Task.isCancelled { throw .cancelled }
            switch try? socket.send(frame) {
            case .whole: return
            case .wouldBlock:
                let number = socket.descriptor.number
                _ = await limited(to: .seconds(1)) { await FileWatch.ready(number, for: .writable) }
            case nil:
                hasEnded = true
                throw .processEnded
            }
        }
    }

    /// The next reply, in the order in which they come.
    fileprivate func next() async throws(ReaderFault) -> ReaderReply {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard replies.isEmpty, fault == nil, !Task.isCancelled else {
                    return continuation.resume()
                }
                waiting = continuation
            }
        } onCancel: {
            onService { self.end(.cancelled) }
        }
        if Task.isCancelled { throw .cancelled }
        if !replies.isEmpty {
            let (reply, count) = replies.removeFirst()
            size -= count
            return reply
        }
        throw fault ?? .processEnded
    }

    fileprivate func close() {
        watch?.cancel()
        (watch, timer, alarm) = (nil, nil, nil)
    }

    /// Takes the request back, after this fault: the process ends the connection when the reader is free
    /// again. One that has said what it may not is not waited for.
    fileprivate func withdraw(_ fault: ReaderFault) {
        guard !hasEnded else { return close() }
        if fault == .processEnded {
            close()
            return killAfterwards("has said what it was not asked for")
        }
        guard fault != .timedOut else { return close() }
        socket.endSending()
        alarm = nil
        // These two keep the conversation for as long as it takes.
        watch = FileWatch(socket.descriptor.number, for: .readable) { [self] _ in
            receiveNothing()
        }
        timer = Timer(after: Self.obedience) { [self] in
            close()
            killAfterwards("does not end what was taken back")
        }
    }

    private func killAfterwards(_ why: String) {
        onService { [unit] in await unit.kill(why) }
    }

    /// Reads what still comes, up to the end; a flood ends it.
    private func receiveNothing() {
        while ignored < Self.cap {
            switch try? socket.receive(limit: ReaderLimit.frame) {
            case .packet: ignored += 1
            case .wouldBlock: return
            case .end, .tooLong, nil: return close()
            }
        }
        close()
        killAfterwards("has said what it was not asked for")
    }

    private func receive() {
        for _ in 0..<Self.turn {
            guard fault == nil, !hasEnded else { return }
            guard let (received, sender) = try? socket.receiveWithSender(limit: ReaderLimit.frame)
            else {
                hasEnded = true
                return end(.processEnded)
            }
            switch received {
            case .packet(let packet):
                guard sender == 0 || (sender != nil && sender == driver) else {
                    close()
                    hasEnded = true
                    unit.replace()
                    return end(.processEnded)
                }
                guard take(packet) else { return end(.processEnded) }
            case .wouldBlock: return resume()
            case .tooLong: return end(.processEnded)
            case .end:
                hasEnded = true
                return end(.processEnded)
            }
        }
        resume()
    }

    /// False where it may not come.
    private func take(_ packet: [UInt8]) -> Bool {
        guard let reply = try? ReaderReply(decoding: packet) else { return false }
        heard += 1
        listen(for: reply == .searching ? Self.search : Self.silence)
        // The first one says that the process is there; later ones, that it still is.
        if reply == .searching || (reply == .alive && heard > 1) { return heard < Self.total }
        replies.append((reply, packet.count))
        size += packet.count
        return heard < Self.total && replies.count <= Self.cap && size <= Self.bytes
    }

    private func end(_ fault: ReaderFault) {
        if self.fault == nil { self.fault = fault }
        close()
        resume()
    }

    private func resume() {
        guard !replies.isEmpty || fault != nil else { return }
        waiting?.resume()
        waiting = nil
    }
}
