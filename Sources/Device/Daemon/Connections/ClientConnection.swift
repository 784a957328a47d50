// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Gate
import LoginProtocol
import MainContext
import Posix

/// One connected client: decodes its frames, runs one request at a time, and ends with the socket.
///
/// A frame that is malformed, too long, unexpected or surplus is answered with `badRequest` and
/// ends the connection. Passwords and secrets are moved to locked memory as they arrive and wiped
/// from the receive buffer, even if the frame is rejected.
///
/// A client has `patience` seconds to make its next request, and may make `requestLimit` in total.
/// When it hangs up, the request in progress is cancelled, but the connection keeps its place in
/// the limits until that request has ended. Otherwise a client could evade the limits by hanging
/// up.
@ServiceActor
final class ClientConnection {
    /// How long a client may stay connected without a request in progress.
    static let patience = Duration.seconds(30)
    /// How long a user may take to type a password.
    static let typing = Duration.seconds(120)
    /// How long a client may take to send a secret that it has announced.
    static let sending = Duration.seconds(10)
    /// How long to wait for a client that does not read before it is disconnected.
    static let sendTimeout = Duration.seconds(5)
    /// After how long a request for a touch that has said nothing sends `preparing`, until it asks for
    /// the finger: at first, then once more, and then again and again.
    ///
    /// A reader may be slow to open, and its driver may be silent meanwhile. No client gives up within
    /// the longest of these times.
    private static let (firstSign, secondSign, laterSigns) = (
        Duration.milliseconds(80), Duration.milliseconds(1_500), Duration.seconds(10)
    )
    /// How many requests one connection may carry.
    static let requestLimit = 256

    /// The credentials of the client's process at connect(2), from the kernel.
    nonisolated var peer: PeerCredentials { process.credentials }
    /// The client's process, as it was when it connected.
    nonisolated let process: ClientProcess

    private let socket: PacketSocket
    private let service: any Answering
    private let ended: (ClientConnection) -> Void
    /// Called when the client only listens from now on.
    var becamePassive: (ClientConnection) -> Void = { _ in }
    /// Called when the client may make requests again.
    var becameActive: (ClientConnection) -> Void = { _ in }
    private var watch: FileWatch?
    private var idle: Timer?
    private var request: Task<Void, Never>?
    /// The kind of the last notice of the current request.
    private var lastNotice: NoticeKind?
    /// Sends `preparing` notices until the current request asks for the finger.
    private var sign: Timer?
    private var password: CheckedContinuation<SecretBytes?, Never>?
    private var secret: SecretDelivery?
    /// The password that came with the current request, and the one to send with its answer.
    private var received: SecretBytes?
    private var enclosed: SecretBytes?
    /// The waiting calls of `show`, in the order in which the client acknowledges notices.
    private var shown: [CheckedContinuation<Bool, Never>] = []
    var requester: Requester?
    var purpose: Bytes?
    let proof = SentProof()
    private var requests = 0
    private var isOpen = true
    private var isStopping = false

    /// Prepares to serve a connected socket until either side ends the connection.
    ///
    /// - Parameter ended: called once the connection and the last request on it have both ended.
    init(
        _ socket: consuming PacketSocket, process: ClientProcess, service: any Answering,
        ended: @escaping (ClientConnection) -> Void
    ) {
        self.socket = socket
        self.process = process
        self.service = service
        self.ended = ended
    }

    /// Starts reading requests.
    func open() {
        watch = FileWatch(descriptor, for: .readable) { [weak self] _ in self?.receive() }
        waitForRequest()
    }

    private var descriptor: Int32 { socket.descriptor.number }

    /// Closes the connection, cancels the request in progress, and voids a pending confirmation.
    ///
    /// Calls that wait for the client (a password, a secret, an acknowledgement) return at once.
    func close() {
        guard isOpen else { return }
        isOpen = false
        watch?.cancel()
        idle?.cancel()
        deliverPassword(nil)
        acknowledgeNothing()
        giveUpSecret()
        proof.settle()
        // Free the place only when the request has ended; otherwise a client could evade the limits
        // by hanging up.
        guard let request else { return ended(self) }
        request.cancel()
    }

    /// Ends the connection because the daemon is stopping.
    ///
    /// The current request is cancelled, its answer is still sent, and then the connection is
    /// closed.
    func stop() {
        isStopping = true
        guard let request else { return close() }
        request.cancel()
    }

    private func waitForRequest() {
        idle = Timer(after: ClientConnection.patience) { [weak self] in self?.close() }
    }

    /// Reads one packet for each iteration of the event loop, so that no client holds up the
    /// others.
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

    /// Decodes one packet: a part of a secret, or a request with or without a password.
    ///
    /// The password is copied to locked memory, and wiped from the packet, before anything else is
    /// decoded. If there is no locked memory for it, the request is treated as one without a
    /// password.
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
            take(try Request(decoding: packet), password: password ?? nil)
        } catch {
            // Even a malformed packet may contain a password or a secret.
            wipe(&packet)
            refuse()
        }
    }

    /// Delivers a frame to the request in progress, or begins a new one.
    ///
    /// Cancelling, acknowledging a notice and giving a password continue the request in progress;
    /// without one that waits for them, they violate the protocol. So does a new request while
    /// another is in progress, or while the daemon is stopping.
    private func take(_ request: Request, password: SecretBytes?) {
        switch request.content {
        case is CancelRequest where self.request != nil: self.request?.cancel()
        case is ShownRequest where self.request != nil: acknowledge()
        case is PasswordRequest where self.password != nil: deliverPassword(password)
        case is any ContinuingRequest: refuse()
        case _ where self.request != nil || isStopping: refuse()
        case _:
            received = password
            begin(request)
        }
    }

    /// Runs a request in its own task, sends the answer, and finishes the request.
    ///
    /// Whatever the request waited for or received from the client and did not use is discarded
    /// before the answer is sent.
    private func begin(_ request: Request) {
        requests += 1
        guard requests <= ClientConnection.requestLimit else { return refuse() }
        idle?.cancel()
        var teller: WaitTeller?
        if request.rule.touch != nil {
            giveSign(after: ClientConnection.firstSign, then: ClientConnection.secondSign)
        }
        if request.rule.touch != nil || request.rule.proof == .password {
            teller = WaitTeller { [weak self] in self?.tellWait($0, isRepeated: $1) }
        }
        lastNotice = nil
        self.request = onService { [self] in
            let answer = finalAnswer(
                await WaitTeller.$current.withValue(teller) {
                    await service.answer(request, from: self)
                })
            teller?.end()
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

    /// Sends a notice about a wait, unless it was the last thing that the client was told.
    private func tellWait(_ notice: Notice, isRepeated: Bool) {
        if isRepeated || notice.kind != lastNotice { post(.notice(notice)) }
    }

    /// Schedules a `preparing` notice, and another one as long after it as `next` says.
    private func giveSign(after delay: Duration, then next: Duration) {
        sign = Timer(after: delay) { [weak self] in
            guard let self, self.request != nil else { return }
            post(.notice(Notice(.preparing)))
            giveSign(after: next, then: ClientConnection.laterSigns)
        }
    }

    /// Says no longer that the request is being prepared if `answer` asks for the finger, or ends the
    /// request; after any other notice, says it only after a while.
    private func putOffSign(after answer: Answer) {
        guard sign != nil else { return }
        if case .notice(let notice) = answer, notice.kind != .touch {
            giveSign(after: ClientConnection.laterSigns, then: ClientConnection.laterSigns)
        } else {
            sign = nil
        }
    }

    /// Returns the answer, or `stopping` if the daemon cut the request short, or is about to before the
    /// client could confirm a touch.
    private func finalAnswer(_ answer: Answer) -> Answer {
        guard isStopping else { return answer }
        switch answer {
        case .assertion: return .denial(Denial(.stopping))
        case .denial(var denial) where denial.reason == .cancelled:
            denial.reason = .stopping
            return .denial(denial)
        default: return answer
        }
    }

    private func deliverPassword(_ bytes: SecretBytes?) {
        password?.resume(returning: bytes)
        password = nil
    }

    /// Answers a violation of the protocol with `badRequest`, and closes the connection.
    private func refuse() {
        post(.denial(Denial(.badRequest)))
        close()
    }
}

extension ClientConnection: Client {
    func setPassive(_ isPassive: Bool) {
        if isPassive { becamePassive(self) } else if isOpen { becameActive(self) }
    }

    func post(_ answer: Answer) {
        putOffSign(after: answer)
        if case .notice(let notice) = answer { lastNotice = notice.kind }
        guard isOpen, let packet = try? answer.encoded() else { return }
        // The send buffer is only too full for such a small packet if the client does not read.
        if (try? socket.send(packet)) != .whole { close() }
    }

    func send(_ answer: Answer) async {
        guard var packet = try? frame(of: answer) else { return close() }
        await send(packet)
        wipe(&packet)
    }

    private func send(_ packet: Bytes) async {
        sign = nil
        while isOpen {
            switch try? socket.send(packet) {
            case .whole: return
            case nil: return close()
            case .wouldBlock:
                guard await isWritable() else { return close() }
            }
        }
    }

    func askPassword(of account: AccountName) async -> SecretBytes? {
        let patience = Timer(after: ClientConnection.typing) { [weak self] in
            self?.deliverPassword(nil)
        }
        defer { patience.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || !isOpen { return continuation.resume(returning: nil) }
                password = continuation
                // Ask only now, so that the reply cannot arrive before the continuation is in
                // place.
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

    /// Encodes an answer.
    ///
    /// The enclosed password is sent with a confirmation and with nothing else.
    private func frame(of answer: Answer) throws(WireFault) -> Bytes {
        guard case .confirmed = answer, let enclosed else { return try answer.encoded() }
        return try enclosed.withBytes { bytes throws(WireFault) in
            try Answer.confirmed(with: Span(_bytes: bytes))
        }
    }

    private func isWritable() async -> Bool {
        let patience = Timer(after: ClientConnection.sendTimeout) { [weak self] in self?.close() }
        defer { patience.cancel() }
        return await FileWatch.ready(descriptor, for: .writable).contains(.writable)
    }
}

extension ClientConnection {
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
                // Send only now, so that the acknowledgement cannot arrive before the continuation
                // is in place.
                post(.notice(notice))
            }
        } onCancel: {
            onService { self.acknowledgeNothing() }
        }
    }

    /// Resumes the oldest call of `show`, since the client acknowledges notices in order.
    private func acknowledge() {
        guard !shown.isEmpty else { return }
        shown.removeFirst().resume(returning: true)
    }

    /// Ends all calls of `show` with false.
    ///
    /// A later acknowledgement could no longer be assigned to its notice.
    private func acknowledgeNothing() {
        let waiting = shown
        shown = []
        for continuation in waiting { continuation.resume(returning: false) }
    }

    func askSecret(_ announced: SecretProgress) async throws(Denial) -> SecretBytes {
        // A client that announces a secret and does not send it violates the protocol.
        let patience = Timer(after: ClientConnection.sending) { [weak self] in self?.refuse() }
        defer { patience.cancel() }
        let delivered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard !Task.isCancelled, isOpen else {
                    return continuation.resume(
                        returning: Result<SecretBytes, Denial>.failure(Denial(.cancelled)))
                }
                secret = SecretDelivery(announced, to: continuation)
                // Ask only now, so that no part can arrive before the continuation is in place.
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
