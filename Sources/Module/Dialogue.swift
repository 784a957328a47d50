// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol

/// The time between the request and the proof: messages, the clock, signals and the password line.
///
/// `assertion` returns the daemon's assertion unchecked; `Login` verifies it. A dialogue may change
/// the terminal's settings and the signal mask of the application. The caller must call `end`,
/// which restores both, on every path.
struct Dialogue {
    private let application: Application
    private let login: Login
    /// When the login must have ended. It is set anew when the daemon first answers or asks for a touch,
    /// says that it is still preparing, and says that a TPM is at work: that is no time of the user's.
    private(set) var deadline: Deadline
    private let milliseconds: UInt32
    private let place: PromptContext
    private var line: PasswordLine?
    /// The signals held back from the beginning, if the process is in a terminal's foreground.
    private var signals: HeldSignals?
    private var mismatches: UInt8 = 0
    /// How often the daemon has reported that it is preparing; only the second report is shown.
    private var preparations: UInt8 = 0
    /// The last notice that was shown; word of a TPM is shown once, however often it comes.
    private var lastShown: NoticeKind?

    /// The time for the daemon's first answer where no password can be typed meanwhile: a daemon
    /// that starts on a busy machine needs some, and one that stands still gives none.
    private static let firstAnswerMilliseconds: UInt32 = 15_000
    /// The time after which a password can be typed, where that is possible.
    private static let lineMilliseconds: UInt32 = 2_000
    /// How much longer than the user's time the daemon is listened to.
    private static let marginMilliseconds: UInt32 = 2_000
    /// The shortest time that is waited for the next word of a daemon that prepares a touch or waits for
    /// a TPM, where no password can be typed meanwhile; it says so more often than that.
    private static let wordMilliseconds: UInt32 = 30_000
    /// The same, and the time for the first answer, while a password can be typed: as long as sudo waits
    /// for one.
    private static let typingMilliseconds: UInt32 = 300_000

    /// Creates a dialogue that gives the user this many milliseconds, 170,000 at the most; `place`
    /// says where a password may be typed and where the request comes from.
    init(_ application: Application, login: Login, milliseconds: UInt32, place: PromptContext) {
        self.application = application
        self.login = login
        self.milliseconds = milliseconds
        deadline = Deadline(milliseconds: milliseconds)
        self.place = place
        signals = place.presence == .foreground ? HeldSignals.hold(for: .answer) : nil
    }

    /// Waits for the daemon's assertion, shows its notices and reads a password if one is typed.
    ///
    /// `prepare` runs once, after the touch prompt is shown, so that its work costs the user no
    /// time.
    ///
    /// - Throws: the failure that ends the attempt: a denial, the deadline, a signal, a typed
    ///   password, or an answer that violates the protocol.
    mutating func assertion(
        from daemon: ModuleConnection, preparing prepare: () -> Void
    ) throws(LoginFailure) -> Assertion {
        let limit =
            place.terminal == nil ? Dialogue.firstAnswerMilliseconds : Dialogue.lineMilliseconds
        // Until when an answer is awaited: the first one, and then what the user has time for.
        var end = deadline
        if try !awaitAnswer(of: daemon, until: deadline.within(milliseconds: limit)) {
            preparations = 1
            guard place.terminal != nil, try show(Notice(.preparing)), line != nil else {
                throw .late
            }
            end = Deadline(milliseconds: Dialogue.typingMilliseconds)
        }
        var hasAnswered = false
        var isPrepared = false
        while true {
            let received: LoginAnswer?
            do throws(LoginFailure) {
                received = try daemon.receive()
            } catch {
                // A daemon that ends while a finger is awaited comes back, as one that says so:
                // lock screens wait for it.
                guard isPrepared, application.mustBeHeard, case .unavailable = error else {
                    throw error
                }
                throw .denied(LoginDenial(.stopping), account: login.account)
            }
            if let answer = received {
                // Not for what a process that was stopped reads after its time.
                if end.millisecondsLeft > 0,
                    let time = time(after: answer, isFirst: !hasAnswered, isAsked: isPrepared)
                {
                    deadline = Deadline(milliseconds: time)
                }
                hasAnswered = true
                end = deadline
                let assertion = try take(answer, daemon: daemon)
                if !isPrepared, assertion != nil || answer.isTouchNotice {
                    isPrepared = true
                    prepare()
                }
                if let assertion { return assertion }
                continue
            }
            guard end.millisecondsLeft > 0 else {
                guard hasAnswered else { throw .late }
                throw .timeUp(mismatches: mismatches)
            }
            try wait(for: daemon, until: end)
        }
    }

    /// The milliseconds that are left after an answer; nil if it does not change them, as a proof never
    /// does.
    private func time(after answer: LoginAnswer, isFirst: Bool, isAsked: Bool) -> UInt32? {
        guard case .notice(let notice) = answer else { return nil }
        // The daemon ends the user's time itself; its word of that, or of a touch in the last moment,
        // takes a moment.
        if notice.kind == .touch {
            return isAsked ? nil : milliseconds + Dialogue.marginMilliseconds
        }
        let isWord = notice.kind == .tpm || notice.kind == .preparing && !isAsked
        let word = line == nil ? Dialogue.wordMilliseconds : Dialogue.typingMilliseconds
        return isWord || isFirst ? max(milliseconds, word) : nil
    }

    /// Closes the password line and restores the terminal, then releases held signals.
    @inline(never)
    mutating func end() {
        line?.end()
        line = nil
        signals?.release()
        signals = nil
    }

    private mutating func take(
        _ answer: LoginAnswer, daemon: ModuleConnection
    ) throws(LoginFailure) -> Assertion? {
        switch answer {
        case .notice(let notice):
            let isShown = try show(notice)
            if notice.wantsAcknowledgement, isShown { try daemon.send(LoginRequest.shown()) }
            return nil
        case .assertion(let assertion):
            return assertion
        case .denial(let denial):
            throw .denied(denial, account: login.account)
        case .confirmed:
            throw .refused("an unrequested confirmation arrived")
        }
    }

    /// Shows a notice; returns whether the user can have seen it.
    private mutating func show(_ notice: Notice) throws(LoginFailure) -> Bool {
        if notice.kind == .noMatch {
            mismatches = mismatches == .max ? .max : mismatches + 1
            // The denial that follows reports it.
            if notice.triesLeft == 0 { return false }
        }
        if notice.kind == .preparing {
            preparations = min(preparations, 2) + 1
            guard preparations == 2 else { return false }
        }
        guard notice.kind != .tpm || lastShown != .tpm, let text = text(of: notice) else {
            return false
        }
        lastShown = notice.kind
        // After a scan the daemon asks for the next one at once.
        line?.makeRoom(beforeMore: notice.kind == .noMatch || notice.kind == .retry)
        let isShown = application.show(text)
        guard isShown || !application.mustBeHeard || !application.mayShow else {
            throw .interrupted
        }
        // What the user has not been shown is not confirmed by a touch.
        guard isShown || application.isQuiet || notice.kind != .touch else {
            throw .unavailable("the user could not be shown the request", shown: Prompt.unclear)
        }
        // This notice precedes the touch, so the password line opens only after it.
        guard notice.kind != .passwordStale else { return isShown }
        if line == nil, let terminal = place.terminal {
            let prompt = application.rendering(Prompt.orPassword)
            line = PasswordLine.open(on: terminal, prompt: prompt)
        }
        guard line != nil || !place.wantsLine else {
            throw .declined("a password cannot be typed here during the touch")
        }
        return isShown
    }

    private func text(of notice: Notice) -> Text? {
        guard notice.kind == .touch else { return notice.text }
        let who = Prompt.who(
            account: login.account, terminal: login.terminal, requester: notice.requester)
        return Prompt.touch(
            notice, purpose: login.purpose, service: login.service, who: who,
            warning: place.warning)
    }

    /// Waits until an answer may have arrived; returns false if the deadline passes first.
    private func awaitAnswer(
        of daemon: ModuleConnection, until deadline: Deadline
    ) throws(LoginFailure) -> Bool {
        guard let signals else { return daemon.wait(until: deadline) }
        return try signals.wait(for: daemon.descriptor, until: deadline)
    }

    private mutating func wait(
        for daemon: ModuleConnection, until end: Deadline
    ) throws(LoginFailure) {
        guard let line else {
            _ = try awaitAnswer(of: daemon, until: end)
            return
        }
        let left = end.millisecondsLeft
        switch line.wait(for: daemon.descriptor, milliseconds: left) {
        case .none: return
        case .suspended: throw .suspended
        case .interrupted: throw .interrupted
        case .typed:
            guard var password = line.take() else { throw .passwordWanted }
            try application.setPassword(&password)
            throw .passwordTyped
        }
    }
}

extension LoginAnswer {
    /// Whether it is the notice that the reader is waiting for a finger.
    fileprivate var isTouchNotice: Bool {
        guard case .notice(let notice) = self else { return false }
        return notice.kind == .touch
    }
}
