// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestScopes

/// Runs a program of the machine and waits for it.
enum Tool {
    static func run(_ arguments: [String]) throws -> Int32 {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let started = unsafe posix_spawnp(&process, arguments[0], nil, nil, words, environ)
        guard started == 0 else { throw PrivateThread.Fault(step: arguments[0], code: started) }
        var status: Int32 = 0
        guard unsafe waitpid(process, &status, 0) == process else {
            throw PrivateThread.Fault(step: arguments[0], code: errno)
        }
        return status
    }
}
