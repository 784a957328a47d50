// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Protects this process's memory as `hardenMemory` does, and sets the umask to 077; umask(2).
package func hardenProcess() throws(SystemFault) {
    try hardenMemory()
    _ = umask(0o077)
}

/// Disables core dumps of this process, and access to its memory by other processes of its user.
///
/// prctl(2) PR_SET_DUMPABLE, setrlimit(2) RLIMIT_CORE. Processes with CAP_SYS_PTRACE still have
/// access.
package func hardenMemory() throws(SystemFault) {
    guard set_dumpable(0) == 0 else { throw SystemFault.current("prctl") }
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
        throw SystemFault.current("setrlimit")
    }
}

/// Removes all environment variables except those named; environ(7).
///
/// Call it at the start of `main`, while there is only one thread.
package func clearEnvironment(keeping names: Set<String>) throws(SystemFault) {
    var kept: [(String, String)] = []
    for name in names.sorted() {
        guard let value = unsafe getenv(name) else { continue }
        kept.append((name, unsafe String(cString: value)))
    }
    guard clearenv() == 0 else { throw SystemFault("clearenv", code: ENOMEM) }
    for (name, value) in kept {
        guard unsafe setenv(name, value, 1) == 0 else {
            throw SystemFault.current("setenv", on: name)
        }
    }
}

/// Reads an environment variable, getenv(3); nil if it is unset or not UTF-8.
package func environmentValue(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
}

/// Sets an environment variable, for a library that reads it; setenv(3).
///
/// Call it at the start of `main`, while there is only one thread.
package func setEnvironmentValue(_ name: String, _ value: String) throws(SystemFault) {
    guard unsafe setenv(name, value, 1) == 0 else {
        throw SystemFault.current("setenv", on: name)
    }
}
