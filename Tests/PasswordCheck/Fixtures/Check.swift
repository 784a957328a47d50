// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes
import TestSupport
import Testing

@testable import PasswordCheck

/// Whole checks with the built program, in mounts of the thread's own.
enum Check {
    /// `verify-password` beside the test program.
    static let program = Layout.products + "/verify-password"

    static func verdict(
        _ account: String, _ password: String, stack: String? = AccountFiles.plain,
        mode: mode_t = 0o644, owner: uid_t = 0, program: String = Check.program,
        script: String? = nil
    ) throws -> PasswordVerdict {
        try PrivateThread.run {
            try AccountFiles.show(stack: stack, mode: mode, owner: owner)
            if stack?.contains("stubborn") == true {
                try StubbornModule.install(at: "/media/stubborn.so")
            }
            var path = program
            if let script {
                path = "/media/script"
                try PrivateThread.write(script, to: path, mode: 0o755)
            }
            let check = try PasswordCheck.start(
                account: account, password: Array(password.utf8).span, program: path)
            try Self.expectReadable([check.descriptor])
            return check.finish()
        }
    }

    /// Gives the body a check whose stack is known to hang, and its process.
    static func whileHanging<Value>(
        _ body: @escaping (consuming PasswordCheck, pid_t) throws -> Value
    ) throws -> Value {
        try PrivateThread.run {
            try AccountFiles.show(stack: "auth required /media/stubborn.so hang\n")
            try StubbornModule.install(at: "/media/stubborn.so")
            unsafe mkfifo("/media/gate", 0o600)
            let gate = unsafe open("/media/gate", O_RDWR | O_CLOEXEC)
            defer { _ = close(gate) }
            let check = try PasswordCheck.start(
                account: "alice", password: Array(AccountFiles.password.utf8).span,
                program: program)
            let process = try Traces.process(behind: check.descriptor)
            try expectReadable([gate, check.descriptor])
            return try body(check, process)
        }
    }

    /// Waits until one of them has something to tell; the limit only ends a test that is stuck.
    private static func expectReadable(_ descriptors: [Int32]) throws {
        var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        let count = unsafe poll(&entries, nfds_t(entries.count), 60_000)
        guard count > 0 else { throw PrivateThread.Fault(step: "poll", code: errno) }
    }
}
