// SPDX-License-Identifier: Apache-2.0
import Glibc

extension PacketListener {
    /// Listens at a path, for every local user unless the mode says otherwise, in the place of a
    /// socket that nobody listens at.
    ///
    /// The directory is made if it is missing. Throws EADDRINUSE where somebody does listen.
    package static func replacing(
        _ path: String, mode: UInt32 = 0o666
    ) throws(SystemFault) -> PacketListener {
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let directory = String(path[..<slash])
            if unsafe mkdir(directory, 0o755) == 0 {
                // Not subject to the umask, which is as strict as can be in a daemon.
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

    /// Removes the node that a listener left at a path.
    package static func remove(_ path: String) {
        _ = unsafe unlink(path)
    }
}
