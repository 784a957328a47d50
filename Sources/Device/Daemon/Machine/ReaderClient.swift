// SPDX-License-Identifier: Apache-2.0
import DBus
import MainContext
import Posix
import ReaderProtocol

/// Sends requests to the reader process, each over its own connection.
///
/// signetd enforces all deadlines. A process that does not answer in time, that hangs, or that does
/// not end a cancelled request is killed through systemd. A process that says anything unexpected
/// is no longer listened to, and killed as well. Packets are accepted only from root or from the
/// user `signet-reader`.
@ServiceActor
final class ReaderClient {
    /// How much longer than its limit a request may take, since drivers need time to cancel.
    private static let patience = Duration.seconds(6)

    /// The user that the reader process runs as.
    private static let user = "signet-reader"

    private let path: String
    private let unit: ReaderUnit
    private lazy var driver = try? Account.named(Self.user)?.uid
    private let complain: (String) -> Void
    private var isMissed = false
    private let signs = LastSign()

    /// Uses the socket at `path`, on which `unit` listens.
    ///
    /// - Parameter complain: called with the reason if the process cannot be asked, and with error
    ///   messages of drivers.
    init(path: String, unit: ReaderUnit, complain: @escaping (String) -> Void) {
        self.path = path
        self.unit = unit
        self.complain = complain
    }

    /// Sends a request and returns the value that `take` makes of the reply that ends it.
    ///
    /// The request is cancelled with the caller's task.
    ///
    /// - Parameter take: called with each reply; returns nil as long as more replies have to come.
    /// - Throws: `processEnded` if the process ends early, hangs, or says anything that the request
    ///   does not permit; `timedOut` if it does not answer long after the limit; otherwise the
    ///   fault that it reports, or `cancelled`. In the first two cases, the process is killed
    ///   unless it has ended by itself.
    func ask<Value: Sendable>(
        _ request: ReaderRequest, templates: [Template] = [], within limit: Duration,
        _ take: (ReaderReply, ReaderConversation) async throws(ReaderFault) -> Value?
    ) async throws(ReaderFault) -> Value {
        let conversation = try connect(within: limit + Self.patience)
        let reply: Result<Value, ReaderFault>
        do throws(ReaderFault) {
            reply = try await talk(request, templates: templates, conversation: conversation, take)
        } catch {
            conversation.withdraw(error)
            throw error
        }
        conversation.close()
        return try reply.get()
    }

    /// Whether the process has said something so recently, or systemd is still starting it.
    func isAtWork(within time: Duration) async -> Bool {
        if let heard = signs.time, ContinuousClock.now - heard < time { return true }
        return await unit.isStarting()
    }

    /// The outcome that the process reports; throws if there is no outcome.
    private func talk<Value: Sendable>(
        _ request: ReaderRequest, templates: [Template], conversation: ReaderConversation,
        _ take: (ReaderReply, ReaderConversation) async throws(ReaderFault) -> Value?
    ) async throws(ReaderFault) -> Result<Value, ReaderFault> {
        // A request that contains nothing is sent at once, so that the answer arrives a round trip
        // earlier. Before all others, the sender has to identify itself; otherwise a wrong process
        // would receive the templates. No answer is taken from a sender that does not.
        if request.isEmpty { try await conversation.send(.request(request)) }
        guard try await conversation.next() == .alive else { throw .processEnded }
        if !request.isEmpty { try await conversation.send(.request(request)) }
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

    /// Connects to the socket, on which systemd must listen as root.
    ///
    /// Throws `processEnded` if that fails.
    private func connect(within limit: Duration) throws(ReaderFault) -> ReaderConversation {
        do throws(SystemFault) {
            let socket = try PacketSocket.connect(to: path, namingSenders: true)
            // systemd listens on the socket as root. The sender of each packet is checked later.
            guard try PeerCredentials(of: socket.descriptor).uid == 0 else {
                throw SystemFault("connect", on: path, code: 13)
            }
            isMissed = false
            return ReaderConversation(
                socket, limit: limit, from: driver, unit: unit, signs: signs)
        } catch {
            // Complain once, and not at each login.
            if !isMissed {
                complain(
                    "signet-reader is not running: \(error). See 'systemctl status signet-reader.socket'"
                )
            }
            isMissed = true
            throw .processEnded
        }
    }
}

/// When the reader process last said something, in whichever request.
@ServiceActor
private final class LastSign {
    var time: ContinuousClock.Instant?
}

/// One request to the reader process, from its first frame to its last.
///
/// It bounds everything that the process can make signetd store or read: replies, bytes and time.
@ServiceActor
final class ReaderConversation {
    /// How many replies may wait to be processed: a reader's prints, the parts of a template, and
    /// some events.
    private static let cap = 4_096
    /// How many bytes the waiting replies may have in total, and how many packets are read in one
    /// iteration of the event loop.
    private static let (bytes, turn) = (4 << 20, 64)
    /// How many replies one request may have in total: twice the number for the longest list or
    /// template.
    private static let total = 16_384
    /// How long the process may take to give its first sign of life once it runs, and how long it may be
    /// silent later.
    ///
    /// What systemd is still starting is waited for, as killing it would have it begin anew, without end.
    /// Later it sends something every second, except while drivers look for their readers.
    private static let (arrival, silence) = (Duration.seconds(10), Duration.seconds(10))
    private static let search = Duration.seconds(15)
    /// How often, and how many times, it is looked whether a silent process is at work: one that compares
    /// fingerprints says nothing meanwhile, which takes long on a slow machine.
    private static let (look, looks) = (Duration.seconds(2), 30)
    /// How long systemd may take to start the process: its own limit, and some.
    private static let starting = Duration.seconds(100)
    /// How long a cancelled request may continue: slightly longer than the process itself allows
    /// its drivers.
    private static let obedience = Duration.seconds(8)

    private let socket: PacketSocket
    private let limit: Duration
    private let unit: ReaderUnit
    private let signs: LastSign
    private var watch: FileWatch?
    private var timer: Timer?
    /// The uid that may answer besides root; nil if the user `signet-reader` does not exist.
    private let driver: UInt32?
    /// Fires if nothing has been received for a while.
    private var alarm: Timer?
    /// The number of received replies.
    private var heard = 0
    /// The processor time that the process had used at the last look; nil since it last said something.
    private var used: UInt64?
    private var looksLeft = ReaderConversation.looks
    /// The number of bytes that wait to be processed.
    private var size = 0
    private var replies: [(reply: ReaderReply, size: Int)] = []
    private var fault: ReaderFault?
    /// Whether the other end has closed the connection.
    private var hasEnded = false
    private var waiting: CheckedContinuation<Void, Never>?
    /// The number of replies that arrived after the request was cancelled.
    private var ignored = 0

    /// Starts to listen.
    ///
    /// The process is killed if the request does not end within `limit` of its first sign of life, or
    /// if it hangs.
    fileprivate init(
        _ socket: consuming PacketSocket, limit: Duration, from driver: UInt32?, unit: ReaderUnit,
        signs: LastSign
    ) {
        self.signs = signs
        self.socket = socket
        self.limit = limit
        self.driver = driver
        self.unit = unit
        timer = Timer(after: Self.starting) { [weak self] in
            self?.kill("did not start", fault: .processEnded)
        }
        watch = FileWatch(self.socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.receive()
        }
        listen(for: Self.arrival)
    }

    /// Has the process killed if the request has not ended in time.
    private func checkTime() {
        let before = heard
        // signetd itself may have been stopped while the replies were waiting in the socket.
        receive()
        guard fault == nil, !hasEnded else { return }
        guard heard == before else {
            timer = Timer(after: Self.silence) { [weak self] in
                self?.kill("did not answer", fault: .timedOut)
            }
            return
        }
        kill("did not answer", fault: .timedOut)
    }

    /// Restarts the timer for the next sign of life.
    private func listen(for limit: Duration) {
        alarm = Timer(after: limit) { [weak self] in self?.checkSilence() }
    }

    /// Has the process killed if nothing has arrived since the alarm was set.
    private func checkSilence() {
        let before = heard
        // signetd itself may have been stopped while the replies were waiting in the socket.
        receive()
        guard heard == before, fault == nil else { return }
        guard heard == 0 else {
            onService { [self] in await checkWork(after: before) }
            return
        }
        onService { [self] in
            let isStarting = await unit.isStarting()
            guard heard == 0, fault == nil, !hasEnded else { return }
            if isStarting { listen(for: Self.arrival) } else { kill("hangs", fault: .processEnded) }
        }
    }

    /// Has a silent process killed, unless it uses the processor.
    private func checkWork(after before: Int) async {
        var now: UInt64?
        var isBusLate = false
        do throws(BusFault) { now = try await unit.processorTime() } catch {
            isBusLate = error == .timedOut
        }
        guard heard == before, fault == nil, !hasEnded else { return }
        let isAtWork = now.map { now in used.map { $0 < now } ?? true } ?? isBusLate
        guard looksLeft > 0, isAtWork else { return kill("hangs", fault: .processEnded) }
        (used, looksLeft) = (now ?? used, looksLeft - 1)
        listen(for: Self.look)
    }

    /// Has the process killed, unless it is still starting, and then ends the request, so that the next
    /// request gets a new process.
    private func kill(_ why: String, fault: ReaderFault) {
        close()
        hasEnded = true
        onService { [self] in
            let isStarting = heard == 0 ? await unit.isStarting() : false
            if !isStarting { await unit.kill(why) }
            end(fault)
        }
    }

    /// Sends a frame, waiting until the socket has room for it.
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

    /// Waits for the next reply, in order of arrival; throws `cancelled`, or the fault that has
    /// ended the conversation once all replies are processed.
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

    /// Cancels the request because of a fault.
    ///
    /// The process closes the connection once the reader is free; if it does not in time, it is
    /// killed. A process that has said anything that the request does not permit is killed at once.
    fileprivate func withdraw(_ fault: ReaderFault) {
        guard !hasEnded else { return close() }
        if fault == .processEnded {
            close()
            return killAfterwards("sent an unexpected answer")
        }
        guard fault != .timedOut else { return close() }
        socket.endSending()
        alarm = nil
        // These two closures keep the conversation alive until it has ended.
        watch = FileWatch(socket.descriptor.number, for: .readable) { [self] _ in
            receiveNothing()
        }
        timer = Timer(after: Self.obedience) { [self] in
            close()
            onService { [self] in
                // One that systemd is still starting has not read the request yet.
                if heard == 0, await unit.isStarting() { return }
                await unit.kill("did not stop a cancelled request")
            }
        }
    }

    private func killAfterwards(_ why: String) {
        onService { [unit] in await unit.kill(why) }
    }

    /// Discards all packets until the connection is closed; too many of them get the process
    /// killed.
    private func receiveNothing() {
        while ignored < Self.cap {
            switch try? socket.receive(limit: ReaderLimit.frame) {
            case .packet: ignored += 1
            case .wouldBlock: return
            case .end, .tooLong, nil: return close()
            }
        }
        close()
        killAfterwards("sent an unexpected answer")
    }

    /// Reads the waiting packets, a bounded number of them at a time.
    ///
    /// A sender other than root and the user `signet-reader` has the socket replaced.
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

    /// Takes a packet; returns false if it is invalid or exceeds a limit.
    private func take(_ packet: [UInt8]) -> Bool {
        guard let reply = try? ReaderReply(decoding: packet) else { return false }
        heard += 1
        (used, looksLeft) = (nil, Self.looks)
        signs.time = .now
        if heard == 1 { timer = Timer(after: limit) { [weak self] in self?.checkTime() } }
        listen(for: reply == .searching ? Self.search : Self.silence)
        // The first `alive` identifies the process; later ones only show that it still runs.
        if reply == .searching || (reply == .alive && heard > 1) { return heard < Self.total }
        replies.append((reply, packet.count))
        size += packet.count
        return heard < Self.total && replies.count <= Self.cap && size <= Self.bytes
    }

    /// Ends the conversation with its first fault, and resumes the waiting caller.
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
