// SPDX-License-Identifier: Apache-2.0
import Glibc

// Takes over the path of a socket. A socket that another process still listens at is never
// replaced.
extension PacketListener {
    /// Listens at a path, and replaces a socket there that no one listens at.
    ///
    /// A missing parent directory is created with mode 0755.
    ///
    /// - Parameter mode: The mode of the socket's file; by default every local user may connect.
    /// - Throws: EADDRINUSE if another process listens at the path, and the fault of connect(2) if
    ///   that cannot be determined, such as EAGAIN for a full queue.
    package static func replacing(
        _ path: String, mode: UInt32 = 0o666
    ) throws(SystemFault) -> PacketListener {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let directory = String(path[..<slash])
            if unsafe mkdir(directory, 0o755) == 0 {
                // mkdir(2) applies the umask, which removes all access for group and others in a
                // daemon.
                guard unsafe chmod(directory, 0o755) == 0 else {
                    throw SystemFault.current("chmod", on: directory)
                }
            } else if errno != EEXIST {
                throw SystemFault.current("mkdir", on: directory)
            }
        }
        do throws(SystemFault) {
            _ = try PacketSocket.connect(to: path)
            throw SystemFault("bind", on: path, code: EADDRINUSE)
        } catch {
            switch error.code {
            case ENOENT: break
            case ECONNREFUSED: remove(path)
            default: throw error
            }
        }
        return try listen(at: path, mode: mode)
    }

    /// Removes the socket's file that a listener left at a path.
    package static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }
}
