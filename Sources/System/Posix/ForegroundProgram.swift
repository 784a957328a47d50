// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs a program in this one's place at the terminal, and waits for its end; posix_spawn(3).
///
/// The program has this process's standard input, output, error and environment. Signals of the
/// terminal reach both.
///
/// - Parameters:
///   - path: The program's absolute path.
///   - arguments: The words after the program's name.
/// - Returns: The exit status; nil if a signal ended the program.
package func runForegroundProgram(
    _ path: String, arguments: [String]
) throws(SystemFault) -> Int32? {
    let words = unsafe ([path] + arguments).map { word in unsafe strdup(word) } + [nil]
    defer { unsafe words.forEach { word in unsafe free(word) } }
    var child: pid_t = 0
    let code = unsafe posix_spawn(&child, path, nil, nil, words, environ)
    guard code == 0 else { throw SystemFault("posix_spawn", on: path, code: code) }
    var status: Int32 = 0
    while unsafe waitpid(child, &status, 0) < 0 {
        guard errno == EINTR else { throw SystemFault.current("waitpid") }
    }
    // WIFEXITED and WEXITSTATUS of wait(2).
    return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
}
