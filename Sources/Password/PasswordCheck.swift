// SPDX-License-Identifier: Apache-2.0
import CPAM
import Glibc

/// Why a check could not be begun, with the errno.
package enum PasswordFault: Error, Equatable {
    case name
    case pipe(Int32)
    case spawn(Int32)
    case watch(Int32)
}

/// The daemon's side: one running `verify-password`, killed and reaped if it is let go of.
package struct PasswordCheck: ~Copyable {
    /// Becomes readable when the process has ended: then `finish` does not wait.
    /// Source: `pidfd_open(2)`.
    package let descriptor: Int32

    private init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = signet_kill(descriptor)
        _ = Self.reap(descriptor)
    }

    /// Starts `program` for an account, with an empty environment, every signal at its default and
    /// no descriptor but the pipe that holds the password.
    ///
    /// `password` is at most 1024 bytes; the program calls a longer one wrong. Only the account's
    /// name appears in the arguments. Source: `posix_spawn(3)`.
    package static func start(
        account: String, password: Span<UInt8>, program: String
    ) throws(PasswordFault) -> PasswordCheck {
        guard AccountName.isAcceptable(account) else { throw .name }
        let input = try filledPipe(password)
        defer { _ = close(input) }
        let process = try spawn(program, account: account, input: input)
        let descriptor = pidfd_open(process, 0)
        guard descriptor >= 0 else {
            let code = errno
            _ = Glibc.kill(process, SIGKILL)
            _ = waitpid(process, nil, 0)
            throw .watch(code)
        }
        return PasswordCheck(adopting: descriptor)
    }

    /// Ends the process by force, at a time limit; `finish` then answers `fault`.
    package func kill() {
        _ = signet_kill(descriptor)
    }

    /// Reaps the process and tells what it found; waits for it if it still runs.
    ///
    /// A process that crashed, was killed or ended in an unknown way is a `fault`.
    package consuming func finish() -> PasswordVerdict {
        let verdict = Self.reap(descriptor)
        discard self
        return verdict
    }

    private static func reap(_ descriptor: Int32) -> PasswordVerdict {
        defer { _ = close(descriptor) }
        var code: Int32 = 0
        guard unsafe signet_reap(descriptor, &code) == 0 else { return .fault }
        return PasswordVerdict(exitCode: code)
    }

    /// The reading end of a pipe that holds the password and ends after it: nobody waits for anybody.
    private static func filledPipe(_ password: Span<UInt8>) throws(PasswordFault) -> Int32 {
        var ends: [Int32] = [-1, -1]
        guard unsafe signet_pipe(&ends) == 0 else { throw .pipe(errno) }
        let (reading, writing) = (ends[0], ends[1])
        defer { _ = close(writing) }
        let count = min(password.count, PasswordText.limit + 1)
        let written = unsafe password.withUnsafeBytes {
            unsafe write(writing, $0.baseAddress, count)
        }
        guard count == 0 || written == count, fcntl(reading, F_SETFL, 0) == 0 else {
            let code = errno
            _ = close(reading)
            throw .pipe(code)
        }
        return reading
    }
}
