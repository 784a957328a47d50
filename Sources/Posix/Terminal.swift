// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The width of a terminal, or nil where a descriptor is none; TIOCGWINSZ of ioctl_tty(2).
package func terminalColumns(_ number: Int32) -> Int? {
    var size = winsize()
    guard isatty(number) == 1 else { return nil }
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
}

/// Whether a descriptor is a terminal; isatty(3).
package func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }

/// A terminal that does not show what is typed, until its owner goes; termios(3).
package struct QuietTerminal: ~Copyable {
    /// The terminal, for reading and writing.
    package let descriptor: Descriptor
    private let before: termios

    /// Opens the terminal at a path and stops its echo; throws where there is none.
    package static func open(_ path: String) throws(SystemFault) -> QuietTerminal {
        let descriptor = try Descriptor(
            result: unsafe Glibc.open(path, O_RDWR | O_CLOEXEC), of: "open", on: path)
        var mode = termios()
        guard unsafe tcgetattr(descriptor.number, &mode) == 0 else {
            throw SystemFault.current("tcgetattr", on: path)
        }
        let before = mode
        mode.c_lflag &= ~tcflag_t(ECHO)
        mode.c_lflag |= tcflag_t(ECHONL | ICANON | ISIG)
        // No ^Z meanwhile: the shell would get the terminal without echo. 10 is VSUSP.
        mode.c_cc.10 = 0
        guard unsafe tcsetattr(descriptor.number, TCSAFLUSH, &mode) == 0 else {
            throw SystemFault.current("tcsetattr", on: path)
        }
        return QuietTerminal(descriptor: descriptor, before: before)
    }

    deinit {
        var before = before
        // What was typed beyond the line must not reach the shell.
        _ = unsafe tcsetattr(descriptor.number, TCSAFLUSH, &before)
    }
}
