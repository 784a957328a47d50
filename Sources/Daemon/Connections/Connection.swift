// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Gate
import LoginProtocol
import Loop
import Policy
import Posix

/// One client: takes its packets apart, serves one request at a time, and ends with it.
@ServiceActor
final class Connection {
    /// How long a client may stay without a request under way.
    static let patience = Duration.seconds(30)
    /// How long a person may take to type a password.
    static let typing = Duration.seconds(120)
    /// How long a client may take to send the secret that it has announced.
    static let sending = Duration.seconds(10)
    /// How long the daemon waits for a client that does not read.
    static let sendTimeout = Duration.seconds(5)
    /// When a client that asked for a touch has a sign that the service is there, and when it is told
    /// what takes so long: a reader may be slow to open, or its driver say nothing.
    static let (firstSign, secondSign) = (Duration.milliseconds(80), Duration.milliseconds(1_500))
    /// Requests over one connection.
    static let requestLimit = 256

    /// Who is at the other end, as the kernel says.
    nonisolated var peer: PeerCredentials { process.credentials }
    /// The process there, as it was when it connected.
    nonisolated let process: ClientProcess

    private let socket: PacketSocket
    private let service: any Answering
    private let ended: (Connection) -> Void
    /// Hears that the client only listens from now on.
    var becamePassive: (Connection) -> Void = { _ in }
    /// Hears that it may ask for something again.
    var becameActive: (Connection) -> Void = { _ in }
    private var watch: FileWatch?
    private var idle: Timer?
    private var request: Task<Void, Never>?
    /// Says that the service is there, as long as nothing else was said to the request under way.
    private var sign: Timer?
    private var password: CheckedContinuation<SecretBytes?, Never>?
    private var secret: SecretDelivery?
    /// The password that came with the request under way, and the one that goes with its answer.
    private var received: SecretBytes?
    private var enclosed: SecretBytes?
    /// Who waits until a notice is shown, in the order in which the client acknowledges them.
    private var shown: [CheckedContinuation<Bool, Never>] = []
    var requester: Requester?
    var confirmation: (any AwaitedConfirmation)? {
        didSet { if oldValue !== confirmation { oldValue?.end() } }
    }
    private var requests = 0
    private var isOpen = true
    private var isStopping = false

    /// Serves a connected socket until either side ends it; `ended` hears when what was asked over
    /// it has ended too.
    init(
        _ socket: consuming PacketSocket, process: ClientProcess, service: any Answering,
        ended: @escaping (Connection) -> Void
    ) {
        self.socket = socket
        self.process = process
        self.service = service
        self.ended = ended
    }

    /// Begins to listen to the client.
    func open() {
        watch = FileWatch(descriptor, for: .readable) { [weak self] _ in self?.receive() }
        waitForRequest()
    }

    private var descriptor: Int32 { socket.descriptor.number }

    /// Ends the connection, and whatever was asked over it.
    func close() {
        guard isOpen else { return }
        isOpen = false
        watch?.cancel()
        idle?.cancel()
        deliverPassword(nil)
        acknowledgeNothing()
        giveUpSecret()
        confirmation = nil
        // The place is free when the request is over: else hanging up would evade the limits.
        guard let request else { return ended(self) }
        request.cancel()
    }

    /// Ends the connection because the daemon stops; what was asked is answered before.
    func stop() {
        isStopping = true
        guard let request else { return close() }
        request.cancel()
    }

    private func waitForRequest() {
        idle = Timer(after: Connection.patience) { [weak self] in self?.close() }
    }

    /// Takes what is there: one packet a turn, so that no client holds up the others.
    private func receive() {
        do throws(SystemFault) {
            switch try socket.receive(limit: Frame.maximumLength) {
            case .packet(var packet):
                take(&packet)
            case .tooLong: refuse()
            case .wouldBlock: break
            case .end: close()
            }
        } catch {
            close()
        }
    }

    private func take(_ packet: inout Bytes) {
        do throws(WireFault) {
            let password = PasswordFrame.take(from: &packet) { span in
                unsafe try? SecretBytes(copying: span.bytes)
            }
            if let range = try SecretPartFrame.range(.kept, in: packet) {
                defer { wipe(&packet) }
                guard let secret else { return refuse() }
                let span = packet.span.extracting(range)
                return take(secret.add(unsafe span.bytes))
            }
            take(try Request(decoding: packet), password ?? nil)
        } catch {
            // It may hold a password or a secret all the same.
            wipe(&packet)
            refuse()
        }
    }

    private func take(_ request: Request, _ password: SecretBytes?) {
        switch request {
        case .cancel where self.request != nil: self.request?.cancel()
        case .shown where self.request != nil: acknowledge()
        case .password where self.password != nil: deliverPassword(password)
        case .password, .secretPart, .cancel, .shown: refuse()
        case _ where self.request != nil || isStopping: refuse()
        case _:
            received = password
            begin(request)
        }
    }

    private func begin(_ request: Request) {
        requests += 1
        guard requests <= Connection.requestLimit else { return refuse() }
        idle?.cancel()
        if VerbTable.rule(for: request.verb).touch != nil {
            giveSign(after: Connection.firstSign, another: true)
        }
        self.request = onService { [self] in
            let answer = finalAnswer(await service.answer(request, from: self))
            deliverPassword(nil)
            acknowledgeNothing()
            received = nil
            giveUpSecret()
            await send(answer)
            enclosed = nil
            service.answered(request, with: answer, to: self)
            self.request = nil
            guard isOpen else { return ended(self) }
            if isStopping { close() } else { waitForRequest() }
        }
    }

    private func giveSign(after delay: Duration, another: Bool = false) {
        sign = Timer(after: delay) { [weak self] in
            guard let self, self.request != nil else { return }
            post(.notice(Notice(.preparing)))
            if another { giveSign(after: Connection.secondSign) }
        }
    }

    /// The answer, with the reason for which a request was really cut short.
    private func finalAnswer(_ answer: Answer) -> Answer {
        guard isStopping, case .denial(var denial) = answer, denial.reason == .cancelled else {
            return answer
        }
        denial.reason = .stopping
        return .denial(denial)
    }

    private func deliverPassword(_ bytes: SecretBytes?) {
        password?.resume(returning: bytes)
        password = nil
    }

    /// Tells the client that it was not understood, and ends the connection.
    private func refuse() {
        post(.denial(Denial(.badRequest)))
        close()
    }
}

extension Connection: Client {
    func setPassive(_ isPassive: Bool) {
        if isPassive { becamePassive(self) } else if isOpen { becameActive(self) }
    }

    func post(_ answer: Answer) {
        sign?.cancel()
        guard isOpen, let packet = try? answer.encoded() else { return }
        // A client that lets so little pile up is not reading: it is let go.
        if (try? socket.send(packet)) != .whole { close() }
    }

    func send(_ answer: Answer) async {
        guard var packet = try? frame(of: answer) else { return close() }
        await send(packet)
        wipe(&packet)
    }

    private func send(_ packet: Bytes) async {
        sign?.cancel()
        while isOpen {
            switch try? socket.send(packet) {
            case .whole: return
            case nil: return close()
            case .wouldBlock:
                guard await isWritable() else { return close() }
            }
        }
    }

    func askPassword(of account: Bytes) async -> SecretBytes? {
        let patience = Timer(after: Connection.typing) { [weak self] in self?.deliverPassword(nil) }
        defer { patience.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || !isOpen { return continuation.resume(returning: nil) }
                password = continuation
                // Only now, so that no answer can come before somebody waits for it.
                post(.passwordWanted(account: account))
            }
        } onCancel: {
            onService { self.deliverPassword(nil) }
        }
    }

    func consumePassword() -> SecretBytes? {
        defer { received = nil }
        return received
    }

    func enclose(_ password: SecretBytes) { enclosed = password }

    /// The frame of an answer; what is enclosed goes with a confirmation, and with nothing else.
    private func frame(of answer: Answer) throws(WireFault) -> Bytes {
        guard case .confirmed = answer, let enclosed else { return try answer.encoded() }
        return try enclosed.withBytes { bytes throws(WireFault) in
            try Answer.confirmed(with: Span(_bytes: bytes))
        }
    }

    private func isWritable() async -> Bool {
        let patience = Timer(after: Connection.sendTimeout) { [weak self] in self?.close() }
        defer { patience.cancel() }
        return await FileWatch.ready(descriptor, for: .writable).contains(.writable)
    }
}

extension Connection {
    func show(_ notice: Notice) async -> Bool {
        guard notice.wantsAcknowledgement else {
            post(.notice(notice))
            return isOpen
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, isOpen else {
                    return continuation.resume(returning: false)
                }
                shown.append(continuation)
                // Only now, so that no acknowledgement can come before somebody waits for it.
                post(.notice(notice))
            }
        } onCancel: {
            onService { self.acknowledgeNothing() }
        }
    }

    /// The client has shown the first notice that it has not acknowledged yet.
    private func acknowledge() {
        guard !shown.isEmpty else { return }
        shown.removeFirst().resume(returning: true)
    }

    /// Nobody waits any more: which notice an acknowledgement is about could not be told.
    private func acknowledgeNothing() {
        let waiting = shown
        shown = []
        for continuation in waiting { continuation.resume(returning: false) }
    }

    func askSecret(_ announced: SecretProgress) async throws(Denial) -> SecretBytes {
        // What is announced and does not come is no request: the connection ends.
        let patience = Timer(after: Connection.sending) { [weak self] in self?.refuse() }
        defer { patience.cancel() }
        let delivered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, isOpen else {
                    return continuation.resume(
                        returning: Result<SecretBytes, Denial>.failure(Denial(.cancelled)))
                }
                secret = SecretDelivery(announced, to: continuation)
                // Only now, so that no part can come before somebody waits for it.
                post(.secretWanted)
            }
        } onCancel: {
            onService { self.giveUpSecret() }
        }
        return try delivered.get()
    }

    func send(_ secret: SecretBytes) async {
        var start = 0
        while start < secret.count, isOpen {
            let count = SecretPartFrame.count(ofNext: secret.count - start)
            var packet = secret.packet(start..<(start + count))
            await send(packet)
            wipe(&packet)
            start += count
        }
    }

    private func take(_ step: SecretDelivery.Step) {
        switch step {
        case .more: break
        case .ended: secret = nil
        case .refused: refuse()
        }
    }

    private func giveUpSecret() {
        secret?.giveUp()
        secret = nil
    }
}
