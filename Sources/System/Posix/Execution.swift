// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Replaces this process with a program, without arguments and with the same environment; execv(3).
///
/// It returns only if that fails.
package func becomeProgram(_ path: String) -> SystemFault {
    let name = unsafe strdup(path)
    defer { unsafe free(name) }
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [name, nil]
    _ = unsafe execv(path, &arguments)
    return SystemFault.current("execv", on: path)
}
