// SPDX-License-Identifier: Apache-2.0
import CTestSupport
import Glibc
import Synchronization

/// How a program ended.
package enum Ending: Sendable, Equatable {
    /// It returned or called exit with this status.
    case exited(Int32)
    /// This signal ended it.
    case killed(Int32)
}

/// One child of this process, waited for exactly once; killed with its owner.
final class ChildProcess: Sendable {
    /// As the machine sees it.
    let pid: Int32
    private let handle: Descriptor
    private let ending = Mutex<Ending?>(nil)

    /// Starts it; -1 as a standard descriptor stands for the terminal.
    init(_ command: Command, terminal: String?, standard: (Int32, Int32, Int32)) throws(TestFault) {
        let group = try command.host?.makeGroup(command.place)
        let result = Self.spawn(command, group: group, terminal: terminal, standard: standard)
        guard result > 0 else {
            let subject = command.arguments.joined(separator: " ")
            throw .system(call: "spawn", subject: subject, code: -result)
        }
        pid = result
        let opened = open_process(result)
        guard opened >= 0 else {
            kill(result, SIGKILL)
            _ = waitpid(result, nil, 0)
            throw .system(call: "pidfd_open", subject: "\(result)", code: -opened)
        }
        handle = Descriptor(owning: opened)
        command.host?.owns(self)
    }

    deinit {
        signal(SIGKILL)
        reap()
    }

    /// How it ended; nil while it runs.
    var ended: Ending? {
        guard handle.isReady(within: .zero) else { return nil }
        return reap()
    }

    /// Waits for its end; nil when the time is over.
    func end(within limit: Duration) -> Ending? {
        guard handle.isReady(within: limit) else { return nil }
        return reap()
    }

    /// Sends a signal, if it still runs.
    func signal(_ number: Int32) {
        ending.withLock { if $0 == nil { _ = kill(pid, number) } }
    }

    /// Sends SIGSTOP and returns when every thread stands still, or it has ended.
    func suspend() {
        ending.withLock { ending in
            guard ending == nil, kill(pid, SIGSTOP) == 0 else { return }
            var info = unsafe siginfo_t()
            unsafe waitid(P_PID, id_t(pid), &info, WSTOPPED | WEXITED | WNOWAIT)
        }
    }

    /// Waits without a limit; it has ended or was killed.
    @discardableResult
    func reap() -> Ending {
        ending.withLock { ending in
            if let ending { return ending }
            var status: Int32 = 0
            var result: Int32
            repeat { result = unsafe waitpid(pid, &status, 0) } while result < 0 && errno == EINTR
            let signal = wait_killed(status)
            let answer = signal >= 0 ? Ending.killed(signal) : .exited(wait_exited(status))
            ending = answer
            return answer
        }
    }

    private static func spawn(
        _ command: Command, group: String?, terminal: String?, standard: (Int32, Int32, Int32)
    ) -> Int32 {
        unsafe withStrings(command.arguments) { arguments in
            unsafe withStrings(command.environment.map { "\($0.key)=\($0.value)" }) { environment in
                unsafe command.directory.withCString { directory in
                    var plan = unsafe spawn_plan()
                    unsafe plan.arguments = arguments
                    unsafe plan.environment = environment
                    unsafe plan.directory = directory
                    unsafe plan.standard = standard
                    unsafe plan.host = command.host?.handle ?? -1
                    if let account = command.account {
                        unsafe plan.changes_user = 1
                        unsafe plan.uid = account.uid
                        unsafe plan.gid = account.uid
                    }
                    return unsafe withPath(terminal) { terminal in
                        unsafe withPath(group) { group in
                            unsafe withPath(command.connects) { socket in
                                unsafe plan.terminal = terminal
                                unsafe plan.group = group
                                unsafe plan.connects = socket
                                return unsafe spawn_child(&plan)
                            }
                        }
                    }
                }
            }
        }
    }

    private static func withPath(
        _ path: String?, _ body: (UnsafePointer<CChar>?) -> Int32
    ) -> Int32 {
        guard let path else { return body(nil) }
        return unsafe path.withCString(body)
    }

    private static func withStrings(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var copies = unsafe strings.map { string in unsafe strdup(string) }
        unsafe copies.append(nil)
        defer { unsafe copies.forEach { copy in unsafe free(copy) } }
        return unsafe copies.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return -EINVAL }
            return unsafe body(base)
        }
    }
}
