// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginProtocol
import SignedFormats

/// The terminal that the application named, if it is this process's controlling terminal.
///
/// PAM_TTY alone is not trusted: it must be the device behind /dev/tty.
final class ControllingTerminal {
    private let file: ModuleDescriptor

    private init(file: consuming ModuleDescriptor) {
        self.file = file
    }

    /// Opens the terminal, for reading too if `toRead`; nil if there is none or it is not this
    /// process's.
    static func open(named name: Bytes, toRead: Bool) -> ControllingTerminal? {
        guard !name.isEmpty else { return nil }
        let isPath = name.first == UInt8(ascii: "/")
        let path = isPath ? name : StaticString("/dev/").bytes + name
        var status = stat()
        let found = path.withCString { unsafe stat($0, &status) }
        guard found == 0, status.isOf(S_IFCHR) else { return nil }
        guard let file = own(toRead ? O_RDWR : O_WRONLY) else { return nil }
        var device: UInt32 = 0
        guard unsafe terminal_device(file.number, &device) == 0,
            UInt64(device) == status.st_rdev
        else { return nil }
        return ControllingTerminal(file: file)
    }

    /// Whether this process is in the background of its controlling terminal, named or not.
    static var holdsBack: Bool {
        guard let file = own(O_WRONLY) else { return false }
        return !ControllingTerminal(file: file).isForeground
    }

    /// Opens the controlling terminal with its own file description, so that O_NONBLOCK does
    /// not affect other processes.
    private static func own(_ mode: Int32) -> ModuleDescriptor? {
        ModuleDescriptor(
            adopting: StaticString("/dev/tty").bytes.withCString { path in
                unsafe open_at(AT_FDCWD, path, mode | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
            })
    }

    /// The file descriptor to poll.
    var descriptor: Int32 { file.number }

    /// Whether this process's group is the terminal's foreground group.
    var isForeground: Bool { tcgetpgrp(file.number) == getpgrp() }

    /// Writes a text unchanged; errors are ignored.
    func write(_ text: Bytes) {
        _ = unsafe text.withUnsafeBytes { bytes in
            unsafe CPAMModule.write(file.number, bytes.baseAddress, bytes.count)
        }
    }

    /// The terminal's current settings; tcgetattr(3).
    func settings() -> termios? {
        var settings = termios()
        return unsafe tcgetattr(file.number, &settings) == 0 ? settings : nil
    }

    /// Changes the terminal's settings and discards unread input; TCSAFLUSH of tcsetattr(3).
    func set(_ settings: termios) -> Bool {
        unsafe withUnsafePointer(to: settings) { settings in
            unsafe tcsetattr(file.number, TCSAFLUSH, settings) == 0
        }
    }
}
