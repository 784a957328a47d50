// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc

/// The leader of a terminal's session: a child of this process, or of a program in a fixture that
/// holds the terminal.
final class TerminalLeader: Sendable {
    /// As the machine sees it.
    let pid: Int32
    private let child: ChildProcess
    private let handle: Descriptor

    convenience init(_ child: ChildProcess) throws(TestFault) {
        try self.init(child.pid, of: child)
    }

    private init(_ pid: Int32, of holder: ChildProcess) throws(TestFault) {
        self.pid = pid
        child = holder
        handle = try Descriptor(open_process(pid), "pidfd_open", "\(pid)")
    }

    /// Starts a program that holds a terminal, and has the command lead a session on it.
    ///
    /// Returns when the command runs.
    static func start(
        _ command: Command, on terminal: String, heldBy name: String, in place: FixturePlace
    ) throws(TestFault) -> (ChildProcess, TerminalLeader) {
        let user = command.account?.uid ?? 0
        guard unsafe chown(terminal, user, gid_t.max) == 0 else {
            throw .system(call: "chown", subject: terminal, code: errno)
        }
        var holder = command
        holder.arguments =
            [
                "\(Layout.package)/Tests/HostFixture/terminal.pl", name,
                "\(place.owner ?? user)", "\(user)", terminal,
            ] + command.arguments
        holder.account = HostFixture.root
        holder.place = place
        let silence = try Descriptor(unsafe open("/dev/null", O_RDWR | O_CLOEXEC), "open", "null")
        let said = try Pipe()
        let child = try ChildProcess(
            holder, terminal: nil, standard: (silence.number, said.write.number, silence.number))
        _ = consume said.write
        let output = try Collector(from: said.read)
        guard output.first(within: .patience, { _, isClosed in isClosed ? true : nil }) == true
        else { throw .deadline(awaited: command.arguments.joined(separator: " "), transcript: "") }
        let children = try? Layout.read("/proc/\(child.pid)/task/\(child.pid)/children")
        let numbers = String(decoding: children ?? [], as: UTF8.self).split(separator: " ")
        guard let pid = numbers.first.flatMap({ Int32($0) }) else {
            // It has ended already; its holder answers for it.
            return (child, try TerminalLeader(child))
        }
        do throws(TestFault) {
            return (child, try TerminalLeader(pid, of: child))
        } catch .system(_, _, let code) where code == ESRCH {
            return (child, try TerminalLeader(child))
        }
    }

    /// Sends a signal, if it still runs.
    func signal(_ number: Int32) {
        if pid == child.pid { return child.signal(number) }
        if !handle.isReady(within: .zero) { _ = kill(pid, number) }
    }

    /// Sends SIGSTOP and returns when every thread stands still, or it has ended.
    func suspend() {
        if pid == child.pid { return child.suspend() }
        signal(SIGSTOP)
        while !handle.isReady(within: .zero) {
            let tasks = Layout.entries(of: "/proc/\(pid)/task")
            if tasks.allSatisfy({ Self.isStopped("/proc/\(pid)/task/\($0)/stat") }) { return }
            sched_yield()
        }
    }

    private static func isStopped(_ path: String) -> Bool {
        guard let bytes = try? Layout.read(path),
            let end = bytes.lastIndex(of: UInt8(ascii: ")")), bytes.count > end + 2
        else { return true }
        return "Tt".utf8.contains(bytes[end + 2])
    }
}
