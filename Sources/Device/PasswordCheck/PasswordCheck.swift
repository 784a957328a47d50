// SPDX-License-Identifier: Apache-2.0
import CPAM
import Domain
import Glibc

/// Why a check could not be started.
///
/// The values are errnos.
package enum PasswordFault: Error, Equatable {
    case name
    case pipe(Int32)
    case spawn(Int32)
    case watch(Int32)
}

/// The daemon's side of a password check: one running `verify-password` process.
///
/// PAM modules run only in that process, never in the daemon. `finish` returns the verdict. If the
/// value is destroyed without `finish`, the process is killed and reaped, so none is left behind.
package struct PasswordCheck: ~Copyable {
    /// A pidfd, which is readable once the process has ended; `finish` then does not wait.
    ///
    /// Source: `pidfd_open(2)`.
    package let descriptor: Int32

    private init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = signet_kill(descriptor)
        _ = Self.reap(descriptor)
    }

    /// Starts `program` for an account.
    ///
    /// The process gets an empty environment, default signal handling, and the pipe with the
    /// password as its standard input; its other standard streams are /dev/null, and no other
    /// descriptor is open. Only the account's name appears in its arguments, which other users can
    /// read. Source: `posix_spawn(3)`.
    ///
    /// - Parameters:
    ///   - password: At most 1024 bytes; the program reports a longer one as wrong.
    ///   - program: The absolute path of `verify-password`.
    /// - Throws: `name` for a name that may not be passed to PAM, otherwise the step that failed.
    package static func start(
        account: String, password: Span<UInt8>, program: String
    ) throws(PasswordFault) -> PasswordCheck {
        guard AccountName(account).isUsable else { throw .name }
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

    /// Kills the process, to enforce a time limit.
    ///
    /// `finish` then returns `fault`.
    package func kill() {
        _ = signet_kill(descriptor)
    }

    /// Reaps the process, waiting for it if necessary, and returns its verdict.
    ///
    /// The verdict is `fault` if the process crashed, was killed, or ended with an unknown exit
    /// code.
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

    /// Returns the reading end of a pipe that already holds the whole password and its end.
    ///
    /// Neither side then waits for the other. Of a password that is too long, one byte more than
    /// the limit is written, so that the program notices.
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
