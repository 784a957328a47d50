// SPDX-License-Identifier: Apache-2.0
import MainContext
import Posix
import ReaderProtocol

/// One request from signetd, on its own connection; closing the connection cancels it.
///
/// It collects the request and its templates, runs it on the readers' actor, and relays signetd's
/// judgements. A malformed frame, or one that is not allowed at that point, cancels the request. If
/// the driver does not end a request in time, the whole process exits, and systemd starts another
/// one.
@ServiceActor
final class ReaderConnection {
    /// How long a request may continue after it was cancelled, or after its time limit.
    private static let patience = Duration.seconds(5)
    /// How long signetd may take to send a request with its templates.
    private static let arrival = Duration.seconds(10)

    private let line: ReplyStream
    private let service: ReaderService
    private let ended: (ReaderConnection) -> Void
    private var watch: FileWatch?
    private var request: ReaderRequest?
    private var templates: [Template] = []
    private var part: [UInt8] = []
    private var size = 0
    private var task: Task<Void, Never>?
    private var timer: Timer?

    init(
        _ socket: consuming PacketSocket, service: ReaderService,
        ended: @escaping (ReaderConnection) -> Void
    ) {
        line = ReplyStream(socket)
        self.service = service
        self.ended = ended
    }

    func begin() {
        line.greet()
        timer = Timer(after: Self.arrival) { [weak self] in self?.cancel() }
        watch = FileWatch(line.socket.descriptor.number, for: .readable) { [weak self] _ in
            self?.receive()
        }
    }

    /// Cancels the request; the connection ends when the reader's driver has ended the operation.
    func cancel() {
        watch = nil
        line.judge(false)
        guard let task else { return end() }
        task.cancel()
        limit(to: Self.patience)
    }

    private func receive() {
        while watch != nil {
            switch try? line.socket.receive(limit: ReaderLimit.frame) {
            case .packet(let packet):
                guard let question = try? ReaderQuestion(decoding: packet), take(question) else {
                    return cancel()
                }
            case .wouldBlock: return
            case .end, .tooLong, nil: return cancel()
            }
        }
    }

    /// Takes one frame; false if it is malformed or not allowed at this point.
    ///
    /// Allowed are one request, first; then as many well-formed templates as the request announces,
    /// within `ReaderLimit.templateBytes`; and judgements only while the request runs.
    private func take(_ question: ReaderQuestion) -> Bool {
        switch question {
        case .request(let new):
            guard request == nil else { return false }
            request = new
        case .template(let bytes, let isLast):
            guard let request, task == nil, size + bytes.count <= ReaderLimit.templateBytes else {
                return false
            }
            size += bytes.count
            part += bytes
            guard isLast else { return part.count <= Template.limit }
            guard templates.count < request.templates, let template = try? Template(bytes: part)
            else { return false }
            templates.append(template)
            part = []
        case .judged(let isAccepted):
            guard task != nil else { return false }
            line.judge(isAccepted)
        }
        if task == nil, let request, templates.count == request.templates { start(request) }
        return true
    }

    /// Starts the request, now that all of its templates have arrived.
    private func start(_ request: ReaderRequest) {
        if let limit = request.limit { self.limit(to: limit + Self.patience) } else { timer = nil }
        task = onReader { [service, templates, line] in
            let heartbeat = Heartbeat(line)
            await service.serve(request, templates: templates, line: line)
            heartbeat.end()
            onService { [weak self] in self?.end() }
        }
        templates = []
    }

    /// Exits the process if the request has not ended in time.
    ///
    /// A driver that hangs thus costs only this process, which systemd restarts. A request that has
    /// not even arrived in time is cancelled instead.
    private func limit(to patience: Duration) {
        timer = Timer(after: patience) { [weak self] in
            guard let self else { return }
            guard task != nil else { return cancel() }
            complain("signet-reader: the reader's driver did not finish a request in time")
            endProcess(1)
        }
    }

    private func end() {
        (watch, timer) = (nil, nil)
        line.judge(false)
        ended(self)
    }
}

extension ReaderRequest {
    /// The request's time limit; for requests without one, an upper bound on what they should take.
    fileprivate var limit: Duration? {
        switch self {
        case .match(let request): request.limit
        case .enroll(let request): request.limit
        case .contents(_, let limit): limit
        case .readers, .canUse: .seconds(20)
        case .deletePrint, .deleteTemplate, .clear: .seconds(120)
        case .suspend, .resume: .seconds(5)
        }
    }
}
