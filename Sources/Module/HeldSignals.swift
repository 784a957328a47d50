// SPDX-License-Identifier: Apache-2.0
import CPAMModule

/// Signals that end or stop a program at a terminal, blocked while a touch is awaited there.
///
/// The wait ends first, terminal settings are restored, and only then is the signal delivered. The
/// module installs no signal handlers: it blocks signals with pthread_sigmask(3) and polls a
/// signalfd(2). Signals that the application blocks itself count too: sudo blocks SIGINT and
/// SIGQUIT while it authenticates, so Ctrl-C would otherwise have no effect there. The previous
/// mask is restored by `release`, at the latest when the object is destroyed.
final class HeldSignals {
    private let signals: ModuleDescriptor
    private var mask: sigset_t
    private var areHeld = true

    /// The wait during which signals are blocked; it decides whether SIGTSTP is one of them.
    enum Occasion {
        /// A line on which a password may be typed; SIGTSTP and SIGTTOU are blocked as well.
        case line
        /// An answer of the daemon; Ctrl-Z stops the program at once, since nothing has to be
        /// restored.
        case answer
    }

    /// A pending signal, by its effect.
    enum Event {
        /// No signal that matters.
        case none
        /// SIGTSTP: the process is asked to stop.
        case suspended
        /// SIGTERM, SIGHUP, SIGINT or SIGQUIT: the process is asked to end.
        case interrupted
    }

    private init(_ signals: consuming ModuleDescriptor, mask: sigset_t) {
        self.signals = signals
        self.mask = mask
    }

    deinit { release() }

    /// The signalfd to poll.
    var descriptor: Int32 { signals.number }

    /// Blocks the signals; returns nil and changes nothing if that fails.
    static func hold(for occasion: Occasion) -> HeldSignals? {
        var held = sigset_t()
        unsafe sigemptyset(&held)
        for signal in [SIGINT, SIGQUIT, SIGTERM, SIGHUP] { unsafe sigaddset(&held, signal) }
        if occasion == .line { unsafe sigaddset(&held, SIGTSTP) }
        guard
            let signals = unsafe ModuleDescriptor(
                adopting: signalfd(-1, &held, Int32(SFD_CLOEXEC | SFD_NONBLOCK)))
        else { return nil }
        // With SIGTTOU blocked, restoring the terminal can never stop the process half-way.
        if occasion == .line { unsafe sigaddset(&held, SIGTTOU) }
        var mask = sigset_t()
        guard unsafe pthread_sigmask(SIG_BLOCK, &held, &mask) == 0 else { return nil }
        return HeldSignals(signals, mask: mask)
    }

    /// Restores the previous mask, which delivers pending signals. Later calls do nothing.
    func release() {
        guard areHeld else { return }
        areHeld = false
        _ = unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Waits until a socket is readable; returns false if the deadline passes first.
    ///
    /// - Throws: `.interrupted` if the process is asked to end.
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

    /// Returns the pending event and leaves its signal pending, for `release()` to deliver.
    ///
    /// An ignored signal has no effect, so it is consumed from the signalfd.
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
