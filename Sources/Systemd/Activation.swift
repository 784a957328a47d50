// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Glibc

/// What makes inherited sockets unfit for use.
package enum ActivationFault: Error, Equatable {
    /// `sd_listen_fds` failed with this errno: the environment is malformed.
    case malformed(Int32)
    /// Descriptor number such is no listening `AF_UNIX` `SOCK_SEQPACKET` socket.
    case unsuitable(descriptor: Int32)
}

/// Sockets that systemd opened for this process.
package enum Activation {
    /// Hands over every inherited socket once, close-on-exec, each one checked to be a listening
    /// `AF_UNIX` `SOCK_SEQPACKET` socket; none when the process was not started by activation.
    ///
    /// The caller owns the descriptors. The variables are unset, so a second call, and any child,
    /// finds nothing. Source: `sd_listen_fds(3)`, `sd_is_socket(3)`.
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

    /// Hands over the one inherited socket, close-on-exec, checked to be a listening TCP socket; nil
    /// when the process was not started by activation.
    ///
    /// The caller owns the descriptor. `isLocal` tells whether only this machine can reach it.
    /// Source: `sd_listen_fds(3)`, `sd_is_socket_inet(3)`.
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

    /// Whether a socket is bound to an address of this machine alone.
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
            // 127.0.0.0/8: the first byte of the address, in the order of the network.
            case AF_INET: unsafe bytes[4] == 127
            // ::1, behind family, port and flow.
            case AF_INET6: unsafe bytes[8..<23].allSatisfy { $0 == 0 } && bytes[23] == 1
            default: false
            }
        }
    }

    /// True only for a listening `AF_UNIX` `SOCK_SEQPACKET` socket. Source: `sd_is_socket(3)`.
    package static func isListener(_ descriptor: Int32) -> Bool {
        sd_is_socket(descriptor, AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 1) > 0
    }
}
