// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport

extension Scratch {
    /// Runs a shell command in this directory, silently; its exit status as wait(2) gives it.
    func run(_ command: String) -> Int32 {
        unsafe system("cd '\(path)' && { \(command); } >/dev/null 2>&1")
    }
}
