// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Why a device node or a socket cannot be used, for a text; nil where there is no such reason.
///
/// A node is opened for reading and writing and closed again; open(2), stat(2).
package func reachabilityFault(of path: String) -> SystemFault? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return SystemFault.current("stat", on: path) }
    guard status.st_mode & S_IFMT == S_IFCHR else { return nil }
    let opened = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard opened >= 0 else { return SystemFault.current("open", on: path) }
    close(opened)
    return nil
}

extension SystemFault {
    /// Whether the kernel forbids it: EACCES or EPERM.
    package var isForbidden: Bool { code == EACCES || code == EPERM }
}
