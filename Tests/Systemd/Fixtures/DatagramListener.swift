// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A datagram socket bound to a path, as journald and systemd listen on.
struct DatagramListener: ~Copyable {
    struct Fault: Error {
        let code: Int32
    }

    private let descriptor: Int32

    init(path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
            unsafe target.copyBytes(from: path.utf8.prefix(target.count - 1))
        }
        let status = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Fault(code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// The datagram that is there already; nothing if none is.
    func receive() -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return Array(buffer.prefix(max(0, count)))
    }
}
