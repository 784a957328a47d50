import Glibc
import Posix
import Texts
import Wire

/// Where a password comes from.
enum PasswordSource {
    /// Typed at the terminal, without being shown.
    case terminal
    /// One line of standard input; good for one try.
    case standardInput

    /// The password in the frame that the daemon awaits; the caller wipes it.
    func packet(
        for account: Bytes, in surroundings: Surroundings
    ) throws(CommandFault) -> Bytes {
        var password: Bytes
        switch self {
        case .terminal:
            let terminal = try QuietTerminal.open(surroundings.terminal)
            password = try terminal.line(
                after: CommandText.passwordPrompt(account), interrupts: surroundings.interrupts)
        case .standardInput:
            password = try line(from: surroundings.input, interrupts: surroundings.interrupts)
        }
        defer { wipe(&password) }
        do throws(WireFault) {
            return try Request.password(password).encoded()
        } catch { throw .password(CommandText.longPassword) }
    }
}

/// A terminal that does not show what is typed, until its owner goes.
private struct QuietTerminal: ~Copyable {
    private let descriptor: Descriptor
    private let before: termios

    static func open(_ path: String) throws(CommandFault) -> QuietTerminal {
        let number = unsafe Glibc.open(path, O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw .password(CommandText.noTerminal) }
        let descriptor = Descriptor(adopting: number)
        var mode = termios()
        guard unsafe tcgetattr(number, &mode) == 0 else {
            throw .password(CommandText.noTerminal)
        }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO)
        mode.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
        // No ^Z meanwhile: the shell would get the terminal without echo.
        mode.c_cc.10 = 0
        guard unsafe tcsetattr(number, TCSAFLUSH, &mode) == 0 else {
            throw .password(CommandText.noTerminal)
        }
        return QuietTerminal(descriptor: descriptor, before: before)
    }

    /// What is typed after a prompt, up to Return.
    borrowing func line(after prompt: Text, interrupts: Int32) throws(CommandFault) -> Bytes {
        writeAll(prompt.bytes, to: descriptor.number)
        do throws(CommandFault) {
            return try Control.line(from: descriptor.number, interrupts: interrupts)
        } catch {
            writeAll([10], to: descriptor.number)
            throw error
        }
    }

    deinit {
        var before = before
        // What was typed beyond the line must not reach the shell.
        _ = unsafe tcsetattr(descriptor.number, TCSAFLUSH, &before)
    }
}

/// One line, without its end, read byte by byte so that nothing behind it is taken.
private func line(from number: Int32, interrupts: Int32) throws(CommandFault) -> Bytes {
    var line = Bytes()
    // All at once: growing would leave copies behind.
    line.reserveCapacity(Limit.password + 1)
    var byte: UInt8 = 0
    while line.count <= Limit.password {
        switch wait(for: number, or: interrupts, until: nil) {
        case .interrupted:
            wipe(&line)
            throw .interrupted
        case .readable, .timedOut: break
        }
        let count = unsafe read(number, &byte, 1)
        if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
        if count == 1 && byte == UInt8(ascii: "\n") { return line }
        guard count == 1 else {
            if !line.isEmpty { return line }
            throw .password(CommandText.noPassword)
        }
        line.append(byte)
        byte = 0
    }
    wipe(&line)
    throw .password(CommandText.longPassword)
}
