// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// Signals by which a person ends or stops a program at a terminal, held back while a touch is awaited
/// there: the wait ends first, what was changed is restored, and only then one of them is delivered.
///
/// sudo blocks SIGINT and SIGQUIT while it authenticates: without this, ^C would end nothing there. So
/// what the application holds back itself counts, too.
final class HeldSignals {
    private let signals: Descriptor
    private var mask: sigset_t
    private var areHeld = true

    /// What they are held back for.
    enum Occasion {
        /// A line on which a password may be typed.
        case line
        /// An answer of the daemon: there ^Z stops the program, with nothing to restore.
        case answer
    }

    /// What has come.
    enum Event {
        /// Nothing that matters.
        case none
        /// The process is asked to stop.
        case suspended
        /// The process is asked to end.
        case interrupted
    }

    private init(_ signals: consuming Descriptor, mask: sigset_t) {
        self.signals = signals
        self.mask = mask
    }

    deinit { release() }

    /// The descriptor to poll for them.
    var descriptor: Int32 { signals.number }

    /// Holds them back, or gives nil and leaves everything as it was.
    static func hold(for occasion: Occasion) -> HeldSignals? {
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { unsafe sigaddset(&held, signal) }
        if occasion == .line { unsafe sigaddset(&held, SIGTSTP) }
        guard
            let signals = unsafe Descriptor(
                adopting: signalfd(-1, &held, Int32(SFD_CLOEXEC | SFD_NONBLOCK)))
        else { return nil }
        // With SIGTTOU held, restoring the terminal can never stop the process half-way.
        if occasion == .line { unsafe sigaddset(&held, SIGTTOU) }
        var mask = sigset_t()
        guard unsafe pthread_sigmask(SIG_BLOCK, &held, &mask) == 0 else { return nil }
        return HeldSignals(signals, mask: mask)
    }

    /// Lets them through.
    func release() {
        guard areHeld else { return }
        areHeld = false
        _ = unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Waits until something came on a socket, and throws where the process is asked to end; false when
    /// the time is up first.
    func wait(for socket: Int32, until deadline: Deadline) throws(LoginFailure) -> Bool {
        let input = Int16(POLLIN)
        while true {
            var watched: InlineArray<2, pollfd> = [
                pollfd(fd: signals.number, events: input, revents: 0),
                pollfd(fd: socket, events: input, revents: 0),
            ]
            let left = deadline.millisecondsLeft
            let ready = unsafe withUnsafeMutableBytes(of: &watched) { watched in
                unsafe poll(watched.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, left)
            }
            if ready > 0 {
                if watched[0].revents != 0, take() == .interrupted { throw .interrupted }
                if watched[1].revents != 0 { return true }
            }
            if left == 0 { return false }
        }
    }

    /// Leaves them pending, for `release()` to deliver; swallows one that nobody would notice.
    func take() -> Event {
        var pending = sigset_t()
        guard unsafe sigpending(&pending) == 0 else { return .interrupted }
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGTSTP]
        where unsafe sigismember(&pending, signal) == 1 && is_ignored(signal) == 0 {
            return signal == SIGTSTP ? .suspended : .interrupted
        }
        var information = signalfd_siginfo()
        _ = unsafe read(signals.number, &information, MemoryLayout<signalfd_siginfo>.size)
        return .none
    }
}
