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

    private let path: String
    private let unit: ReaderUnit
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
    /// Throws `processEnded` where the process ends before, or says what it may not, and `timedOut`
    /// where it does not answer long after the limit: it is killed then.
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
        try await conversation.send(.request(request))
        for template in templates {
            for frame in ReaderQuestion.frames(of: template) { try await conversation.send(frame) }
        }
        while true {
            let reply = try await conversation.next()
            if case .fault(let fault) = reply { return .failure(fault) }
            if let value = try await take(reply, conversation) { return .success(value) }
        }
    }

    private func connect(within limit: Duration) throws(ReaderFault) -> ReaderConversation {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path)
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                throw SystemFault("connect", on: path, code: 13)
            }
            isMissed = false
            return ReaderConversation(socket, limit: limit, unit)
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
    /// How long what was taken back may go on: a little longer than the process itself gives drivers.
    private static let obedience = Duration.seconds(8)

    private let socket: PacketSocket
    private let unit: ReaderUnit
    private var watch: FileWatch?
    private var timer: Timer?
    private var replies: [ReaderReply] = []
    private var fault: ReaderFault?
    /// Whether the other end has closed.
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?
    /// The replies that came after the request was taken back.
    private var ignored = 0

    /// The process is killed where the request has not ended within the limit.
    fileprivate init(_ socket: consuming PacketSocket, limit: Duration, _ unit: ReaderUnit) {
        self.socket = socket
        self.unit = unit
        timer = Timer(after: limit) { [weak self] in
            unit.kill("does not answer")
            self?.end(.timedOut)
        }
        watch = FileWatch(self.socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.receive()
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
        if !replies.isEmpty { return replies.removeFirst() }
        throw fault ?? .processEnded
    }

    fileprivate func close() {
        watch?.cancel()
        (watch, timer) = (nil, nil)
    }

    /// Takes the request back, after this fault: the process ends the connection when the reader is free
    /// again. One that has said what it may not is not waited for.
    fileprivate func withdraw(_ fault: ReaderFault) {
        guard !hasEnded else { return close() }
        if fault == .processEnded {
            close()
            return unit.kill("has said what it was not asked for")
        }
        guard fault != .timedOut else { return close() }
        socket.endSending()
        // These two keep the conversation for as long as it takes.
        watch = FileWatch(socket.descriptor.number, for: .readable) { [self] _ in
            receiveNothing()
        }
        timer = Timer(after: Self.obedience) { [self] in
            close()
            unit.kill("does not end what was taken back")
        }
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
        unit.kill("has said what it was not asked for")
    }

    private func receive() {
        while fault == nil {
            switch try? socket.receive(limit: ReaderLimit.frame) {
            case .packet(let packet):
                guard replies.count < Self.cap, let reply = try? ReaderReply(decoding: packet)
                else { return end(.processEnded) }
                replies.append(reply)
            case .wouldBlock: return resume()
            case .tooLong: return end(.processEnded)
            case .end, nil:
                hasEnded = true
                return end(.processEnded)
            }
        }
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
