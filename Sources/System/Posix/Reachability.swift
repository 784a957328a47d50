// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Returns why a path cannot be used as a device or socket, for a message; nil if no reason is
/// found.
///
/// A character device is opened for reading and writing and closed again; open(2). For anything
/// else, it is enough that it exists; stat(2).
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
    /// Whether access was denied: EACCES or EPERM.
    package var isForbidden: Bool { code == EACCES || code == EPERM }
}
