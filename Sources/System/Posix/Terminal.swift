// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Returns the width of a terminal in columns; nil if the descriptor is not a terminal.
///
/// A terminal that does not know its width counts as 80 columns wide; ioctl_tty(2) TIOCGWINSZ.
package func terminalColumns(_ number: Int32) -> Int? {
    var size = winsize()
    guard isatty(number) == 1 else { return nil }
    guard unsafe ioctl(number, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
}

/// Whether a descriptor is a terminal; isatty(3).
package func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }

/// A terminal with echo switched off until this value is destroyed; termios(3).
package struct QuietTerminal: ~Copyable {
    /// The terminal, for reading and writing.
    package let descriptor: Descriptor
    private let before: termios

    /// Opens the terminal at a path and switches its echo off.
    ///
    /// - Throws: the fault of the call that failed, such as ENOTTY if it is not a terminal.
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
        // ^Z is disabled (10 is VSUSP), because suspending the program would leave the shell
        // without echo.
        mode.c_cc.10 = 0
        guard unsafe tcsetattr(descriptor.number, TCSAFLUSH, &mode) == 0 else {
            throw SystemFault.current("tcsetattr", on: path)
        }
        return QuietTerminal(descriptor: descriptor, before: before)
    }

    deinit {
        var before = before
        // Input beyond the line is discarded, so that it does not reach the shell.
        _ = unsafe tcsetattr(descriptor.number, TCSAFLUSH, &before)
    }
}
