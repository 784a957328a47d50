// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// Why sockets inherited from systemd cannot be used.
package enum ActivationFault: Error, Equatable {
    /// The environment variables are malformed: `sd_listen_fds` failed with this errno.
    case malformed(Int32)
    /// The descriptor is not a socket of the required kind.
    case unsuitable(descriptor: Int32)
}

/// The sockets that systemd opened for this process.
package enum Activation {
    /// Takes over the inherited sockets, which must be listening `AF_UNIX` `SOCK_SEQPACKET`
    /// sockets.
    ///
    /// The caller owns the descriptors, which are close-on-exec. The environment variables are
    /// removed, so that a second call, and any child process, finds none. Source:
    /// `sd_listen_fds(3)`, `sd_is_socket(3)`.
    ///
    /// - Returns: The descriptors; none if the process was not started by socket activation.
    /// - Throws: `malformed`, or `unsuitable` for the first descriptor that is another kind of
    ///   socket.
    package static func sockets() throws(ActivationFault) -> [Int32] {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw .malformed(-count) }
        var sockets: [Int32] = []
        for descriptor in SD_LISTEN_FDS_START..<(SD_LISTEN_FDS_START + count) {
            guard isListener(descriptor) else { throw .unsuitable(descriptor: descriptor) }
            sockets.append(descriptor)
        }
        return sockets
    }

    /// Takes over the single inherited socket, which must be a listening TCP socket.
    ///
    /// The caller owns the descriptor, which is close-on-exec. Source: `sd_listen_fds(3)`,
    /// `sd_is_socket_inet(3)`.
    ///
    /// - Returns: The descriptor, and whether it is bound to a loopback address, so that only this
    ///   machine can reach it; nil if the process was not started by socket activation.
    /// - Throws: `malformed`, or `unsuitable` if it is another kind of socket or not the only one.
    package static func tcpSocket() throws(ActivationFault) -> (descriptor: Int32, isLocal: Bool)? {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw .malformed(-count) }
        guard count > 0 else { return nil }
        let number = SD_LISTEN_FDS_START
        let stream = Int32(SOCK_STREAM.rawValue)
        guard count == 1, sd_is_socket_inet(number, AF_UNSPEC, stream, 1, 0) > 0 else {
            throw .unsuitable(descriptor: number)
        }
        return (number, isLocal(number))
    }

    /// Takes over the single inherited socket, which must be a listening `AF_UNIX` `SOCK_STREAM` one.
    ///
    /// The caller owns the descriptor, which is close-on-exec. Source: `sd_listen_fds(3)`,
    /// `sd_is_socket(3)`.
    ///
    /// - Returns: The descriptor; nil if the process was not started by socket activation.
    /// - Throws: `malformed`, or `unsuitable` if it is another kind of socket or not the only one.
    package static func streamSocket() throws(ActivationFault) -> Int32? {
        let count = sd_listen_fds(1)
        guard count >= 0 else { throw .malformed(-count) }
        guard count > 0 else { return nil }
        let number = SD_LISTEN_FDS_START
        let stream = Int32(SOCK_STREAM.rawValue)
        guard count == 1, sd_is_socket(number, AF_UNIX, stream, 1) > 0 else {
            throw .unsuitable(descriptor: number)
        }
        return number
    }

    /// Whether a socket is bound to a loopback address.
    private static func isLocal(_ descriptor: Int32) -> Bool {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard result == 0 else { return false }
        return unsafe withUnsafeBytes(of: address) { bytes in
            switch Int32(address.sin6_family) {
            // 127.0.0.0/8: the first byte of the address, in network byte order.
            case AF_INET: unsafe bytes[4] == 127
            // ::1, which follows family, port and flow information.
            case AF_INET6: unsafe bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
            default: false
            }
        }
    }

    /// Whether a descriptor is a listening `AF_UNIX` `SOCK_SEQPACKET` socket.
    ///
    /// Source: `sd_is_socket(3)`.
    package static func isListener(_ descriptor: Int32) -> Bool {
        sd_is_socket(descriptor, AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 1) > 0
    }
}
