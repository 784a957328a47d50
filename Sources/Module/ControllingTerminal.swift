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
        let parent = StaticString("/dev/").bytes
        let short = name.starts(with: parent) ? Bytes(name.dropFirst(parent.count)) : name
        guard isSystems(short) else { return nil }
        let path = parent + short
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

    /// Whether only root can have given a device in /dev this name: it has no directory but `pts`,
    /// since another may belong to a user, as /dev/shm does.
    private static func isSystems(_ name: Bytes) -> Bool {
        let pts = StaticString("pts/").bytes
        let last = name.starts(with: pts) ? Bytes(name.dropFirst(pts.count)) : name
        return !last.isEmpty && last.first != UInt8(ascii: ".") && !last.contains(UInt8(ascii: "/"))
    }

    /// This process's controlling terminal, whatever the application named, to write to; nil if
    /// there is none.
    static func own() -> ControllingTerminal? {
        guard let file = own(O_WRONLY) else { return nil }
        return ControllingTerminal(file: file)
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

    /// The time in milliseconds within which a terminal must take a text; one that was stopped with
    /// ^S does not.
    private static let milliseconds: Int32 = 1_000

    /// Writes a text unchanged; returns whether all of it was written, in the foreground.
    @discardableResult
    func write(_ text: Bytes) -> Bool {
        var length = 0
        while length < text.count {
            guard isForeground else { return false }
            let start = length
            let count = unsafe text.withUnsafeBytes { bytes in
                unsafe CPAMModule.write(
                    file.number, bytes.baseAddress?.advanced(by: start), bytes.count - start)
            }
            if count > 0 {
                length += count
                continue
            }
            var request = pollfd(fd: file.number, events: Int16(POLLOUT), revents: 0)
            guard unsafe poll(&request, 1, ControllingTerminal.milliseconds) > 0,
                request.revents & Int16(POLLOUT) != 0
            else { return false }
        }
        return true
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
