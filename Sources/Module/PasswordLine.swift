// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol

/// The line on the terminal where a password may be typed while a finger is awaited.
///
/// While it is open, the terminal echoes nothing and is in canonical mode, and signals that end or
/// stop the process are blocked, so that the terminal is restored before any of them is delivered.
/// Destroying the object restores the terminal too.
final class PasswordLine {
    private let terminal: ControllingTerminal
    private let prompt: Bytes
    private let signals: HeldSignals
    private let saved: termios
    private var isOpen = true
    private var isAsking = false
    /// Whether another message is expected at once, which the prompt is to follow.
    private var isFollowed = false

    /// The milliseconds for which the prompt waits for a message that is expected.
    private static let pause: Int32 = 300

    /// The reason why `wait` returned.
    enum Event {
        /// Nothing happened on the line; the caller checks the socket and the deadline.
        case none
        /// A line was typed; the caller reads it with `take`.
        case typed
        /// The process is asked to stop.
        case suspended
        /// The process is asked to end, or the terminal has hung up.
        case interrupted
    }

    private init(
        _ terminal: ControllingTerminal, prompt: Bytes, signals: HeldSignals, saved: termios
    ) {
        self.terminal = terminal
        self.prompt = prompt
        self.signals = signals
        self.saved = saved
    }

    deinit { end() }

    /// Opens a line on a terminal; returns nil and changes nothing if that fails.
    ///
    /// `prompt` is written before the cursor at the first `wait`, and again after `makeRoom`.
    static func open(on terminal: ControllingTerminal, prompt: Bytes) -> PasswordLine? {
        guard let saved = terminal.settings() else { return nil }
        guard let signals = HeldSignals.hold(for: .line) else { return nil }
        let line = PasswordLine(terminal, prompt: prompt, signals: signals, saved: saved)
        var silent = saved
        silent.c_lflag |= tcflag_t(ICANON | ISIG)
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        silent.c_iflag |= tcflag_t(ICRNL)
        guard terminal.isForeground, terminal.set(silent) else {
            line.end()
            return nil
        }
        return line
    }

    /// Restores the terminal, discards partial input, then releases held signals.
    ///
    /// In the background it leaves the terminal alone, because another process has its settings
    /// now.
    func end() {
        guard isOpen else { return }
        isOpen = false
        if terminal.isForeground {
            _ = terminal.set(saved)
            if isAsking { terminal.write([UInt8(ascii: "\n")]) }
        }
        signals.release()
    }

    /// Ends the visible line, so that a message can be shown; the next `wait` shows the prompt
    /// again, after the message that is expected if there is one more.
    func makeRoom(beforeMore: Bool) {
        isFollowed = beforeMore
        guard isAsking else { return }
        isAsking = false
        terminal.write([UInt8(ascii: "\n")])
    }

    /// Waits for input, a signal, the socket or the timeout.
    func wait(for socket: Int32, milliseconds: Int32) -> Event {
        let pause = isFollowed ? min(milliseconds, PasswordLine.pause) : milliseconds
        if !isAsking, !isFollowed {
            isAsking = true
            terminal.write(prompt)
        }
        isFollowed = false
        let input = Int16(POLLIN)
        var watched: InlineArray<3, pollfd> = [
            pollfd(fd: terminal.descriptor, events: input, revents: 0),
            pollfd(fd: signals.descriptor, events: input, revents: 0),
            pollfd(fd: socket, events: input, revents: 0),
        ]
        let ready = unsafe withUnsafeMutableBytes(of: &watched) { watched in
            unsafe poll(watched.baseAddress?.assumingMemoryBound(to: pollfd.self), 3, pause)
        }
        guard ready > 0 else { return .none }
        if watched[1].revents != 0 { return event(of: signals.take()) }
        if watched[0].revents & input != 0 { return .typed }
        return watched[0].revents != 0 ? .interrupted : .none
    }

    /// Returns the typed line, or nil if it cannot be a password, such as an empty line.
    func take() -> SecretLine? {
        var line = SecretLine()
        _ = line.read(from: terminal.descriptor)
        guard line.isPassword else { return nil }
        return line
    }

    private func event(of signal: HeldSignals.Event) -> Event {
        switch signal {
        case .none: .none
        case .suspended: .suspended
        case .interrupted: .interrupted
        }
    }
}
