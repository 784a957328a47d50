// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The result of running a program to read its output.
package enum ChildAnswer: Equatable, Sendable {
    /// The program exited with status 0, and this is all of its output.
    case said([UInt8])
    /// The program could not be started, exited with another status, or was killed by a signal.
    case failed
    /// The program wrote too much or did not end in time, and was killed.
    case unfinished
}

/// Runs a program and reads its standard output, either in full or not at all.
package enum ChildOutput {
    /// Runs a program and waits for its end; posix_spawn(3).
    ///
    /// The program gets an empty environment, and /dev/null as standard input and error. It is
    /// killed if it writes more than `cap` bytes, or has not closed its standard output and ended
    /// within `limit`.
    ///
    /// - Parameter path: The program's absolute path.
    package static func of(
        _ path: String, arguments: [String], cap: Int, within limit: Duration
    ) -> ChildAnswer {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return .failed }
        let reading = Descriptor(adopting: ends[0])
        let writing = Descriptor(adopting: ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        guard let child = spawn(path, arguments: arguments, output: writing.number) else {
            return .failed
        }
        _ = consume writing
        let deadline = ContinuousClock.now + limit
        var said = collect(reading, cap: cap, until: deadline)
        if said != nil, !hasEnded(child, by: deadline) { said = nil }
        if said == nil { kill(child, SIGKILL) }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard let said else { return .unfinished }
        return status == 0 ? .said(said) : .failed
    }

    private static func spawn(_ path: String, arguments: [String], output: Int32) -> pid_t? {
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        guard unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0,
            unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0) == 0,
            unsafe posix_spawn_file_actions_adddup2(&actions, output, 1) == 0
        else { return nil }
        let words = unsafe ([path] + arguments).map { word in unsafe strdup(word) } + [nil]
        defer { unsafe words.forEach { word in unsafe free(word) } }
        let environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, path, &actions, nil, words, environment)
        return code == 0 ? child : nil
    }

    /// Waits for the end of a child that nothing has waited for yet, so its id is not reused.
    private static func hasEnded(_ child: pid_t, by deadline: ContinuousClock.Instant) -> Bool {
        let handle = pidfd_open(child, 0)
        guard handle >= 0 else { return false }
        let descriptor = Descriptor(adopting: handle)
        return wait(for: descriptor.number, or: -1, until: deadline) == .readable
    }

    private static func collect(
        _ pipe: borrowing Descriptor, cap: Int, until deadline: ContinuousClock.Instant
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count <= cap {
            guard wait(for: pipe.number, or: -1, until: deadline) == .readable,
                let got = try? readSome(from: pipe.number, into: &bytes, count: 16_384)
            else { return nil }
            if got == 0 { return bytes }
        }
        return nil
    }
}
