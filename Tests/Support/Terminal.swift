// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Synchronization

/// A pseudo-terminal with a program on it, driven as a person would: type, wait for what appears.
///
/// The program leads a session of its own whose controlling terminal this is. Every wait is for an
/// event, and fails with the whole transcript when its deadline passes.
package final class Terminal: Sendable {
    /// A key together with Control.
    package enum Key: UInt8, Sendable {
        case c = 3
        case d = 4
        case z = 26
        case backslash = 28
        case u = 21
        case w = 23
    }

    /// What the terminal does with what is typed (termios, `c_lflag`).
    package struct Mode: Sendable, Equatable {
        /// Typed characters are shown.
        package let echoes: Bool
        /// Input is handed over by lines.
        package let isCanonical: Bool
        /// ^C, ^Z and ^\ are signals.
        package let makesSignals: Bool
    }

    /// The slave's path, the same inside a fixture and outside.
    package let path: String
    private let command: Command
    private let child: ChildProcess
    private let leader: TerminalLeader
    private let collector: Collector
    private let master: Mutex<Descriptor?>
    private let cursor = Mutex(0)

    /// Opens a terminal of 24 lines and 80 columns, owned by the command's account, and starts the
    /// command on it. What appears is written to the descriptor `copy` too, as it comes, for a
    /// person to see.
    ///
    /// - Parameter holder: the program in the fixture that the terminal belongs to, as it calls
    ///   itself, and the place in which it runs; nil for none that is seen there.
    package init(
        _ command: Command, heldBy holder: (name: String, place: FixturePlace)? = nil,
        copyingTo copy: Int32? = nil
    ) throws(TestFault) {
        let pair = try TerminalPair()
        _ = resize_terminal(pair.master.number, 24, 80)
        path = pair.path
        if let holder {
            (child, leader) = try TerminalLeader.start(
                command, on: pair.path, heldBy: holder.name, in: holder.place)
        } else {
            child = try ChildProcess(command, terminal: path, standard: (-1, -1, -1))
            leader = try TerminalLeader(child)
        }
        // Not before the child has it too: without any slave open the master reads an end.
        _ = consume pair.slave
        let reading = fcntl(pair.master.number, F_DUPFD_CLOEXEC, 3)
        collector = try Collector(from: Descriptor(reading, "dup", path), copyingTo: copy)
        self.command = command
        master = Mutex(pair.master)
    }

    deinit { hangUp() }

    /// The process id of the session's leader, as the machine sees it.
    package var pid: Int32 { leader.pid }
    /// All that appeared until now.
    package var transcript: String { String(decoding: collector.bytes, as: UTF8.self) }
    /// How the session's leader ended; nil while it runs.
    package var ended: Ending? { child.ended }

    /// Types a text; `\n` is sent as it is.
    package func send(_ text: String) throws(TestFault) { try send(Array(text.utf8)) }

    /// Types a line, with Return at its end.
    package func sendLine(_ line: String) throws(TestFault) { try send(line + "\r") }

    /// Types bytes; not more than a terminal holds unread (4095), or this may wait for ever.
    package func send(_ bytes: [UInt8]) throws(TestFault) {
        try withMaster { (descriptor) throws(TestFault) in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes { buffer in
                    unsafe write(descriptor, buffer.baseAddress, buffer.count)
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { throw fault("write") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Presses ^S, and returns when the terminal takes no more output.
    package func stopOutput() throws(TestFault) {
        try send([19])
        let number = unsafe open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC)
        let slave = try Descriptor(number, "open", path)
        let end = ContinuousClock.now + .patience
        var request = pollfd(fd: slave.number, events: Int16(POLLOUT), revents: 0)
        // The kernel handles the key a moment later, and reports nothing of it.
        while unsafe poll(&request, 1, 0) > 0 {
            guard ContinuousClock.now < end else {
                throw .deadline(awaited: "stopped output", transcript: transcript)
            }
            _ = poll(nil, 0, 1)
        }
    }

    /// Presses a key together with Control.
    package func control(_ key: Key) throws(TestFault) { try send([key.rawValue]) }

    /// Waits until `text` appears after what was last found, and returns what appeared before it.
    @discardableResult
    package func expect(
        _ text: String, within limit: Duration = .patience
    ) throws(TestFault) -> String {
        let wanted = Array(text.utf8)
        let start = cursor.withLock { $0 }
        let found = collector.first(within: limit) { chunks, _ in
            let bytes = chunks.flatMap(\.bytes)
            return bytes[start...].firstRange(of: wanted).map { (bytes[start..<$0.lowerBound], $0) }
        }
        guard let (before, range) = found else {
            let awaited = "'\(text)' after byte \(start) on \(path), \(title)"
            throw collector.isClosed
                ? .closed(awaited: awaited, transcript: transcript)
                : .deadline(awaited: awaited, transcript: transcript)
        }
        cursor.withLock { $0 = range.upperBound }
        return String(decoding: before, as: UTF8.self)
    }

    /// Waits until the leader ended and the terminal is closed on its side.
    @discardableResult
    package func expectEnd(within limit: Duration = .patience) throws(TestFault) -> Ending {
        guard let ending = child.end(within: limit) else {
            throw .deadline(awaited: "the end of \(title)", transcript: transcript)
        }
        _ = collector.first(within: limit) { _, isClosed in isClosed ? true : nil }
        return ending
    }

    /// The terminal's present mode (tcgetattr).
    package func mode() throws(TestFault) -> Mode {
        try withMaster { (descriptor) throws(TestFault) in
            var settings = termios()
            guard unsafe tcgetattr(descriptor, &settings) == 0 else { throw fault("tcgetattr") }
            let flags = settings.c_lflag
            return Mode(
                echoes: flags & tcflag_t(ECHO) != 0, isCanonical: flags & tcflag_t(ICANON) != 0,
                makesSignals: flags & tcflag_t(ISIG) != 0)
        }
    }

    /// The process group in the foreground, as the machine sees it (tcgetpgrp).
    package func foregroundGroup() throws(TestFault) -> Int32 {
        try withMaster { (descriptor) throws(TestFault) in
            let group = tcgetpgrp(descriptor)
            guard group >= 0 else { throw fault("tcgetpgrp") }
            return group
        }
    }

    /// Tells the terminal a new size; the foreground group gets SIGWINCH.
    package func resize(rows: UInt16, columns: UInt16) throws(TestFault) {
        try withMaster { (descriptor) throws(TestFault) in
            let code = resize_terminal(descriptor, rows, columns)
            guard code == 0 else { throw fault("TIOCSWINSZ", -code) }
        }
    }

    /// Sends a signal to the session's leader.
    package func signal(_ number: Int32) { leader.signal(number) }

    /// Sends SIGSTOP to the session's leader and returns when it stands still.
    package func suspend() { leader.suspend() }

    /// Lets a leader that was stopped go on.
    package func resume() { leader.signal(SIGCONT) }

    /// Has the leader stopped when it comes to a moment of a login.
    package func tracer(stoppingAt moment: Tracer.Moment) throws(TestFault) -> Tracer {
        try Tracer(of: leader, stoppingAt: moment)
    }

    /// Closes this side, as when a window is closed: the session gets SIGHUP.
    package func hangUp() {
        collector.stop()
        _ = master.withLock { $0.take() }
    }

    private var title: String { command.arguments.joined(separator: " ") }

    private func fault(_ call: String, _ code: Int32 = errno) -> TestFault {
        .system(call: call, subject: "\(path), \(title)", code: code)
    }

    private func withMaster<Answer>(
        _ body: (Int32) throws(TestFault) -> Answer
    ) throws(TestFault) -> Answer {
        try master.withLock { (descriptor) throws(TestFault) in
            guard let number = descriptor?.number else { throw fault("hang-up", EIO) }
            return try body(number)
        }
    }
}
