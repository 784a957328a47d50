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

    /// True only for a listening `AF_UNIX` `SOCK_SEQPACKET` socket. Source: `sd_is_socket(3)`.
    package static func isListener(_ descriptor: Int32) -> Bool {
        sd_is_socket(descriptor, AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 1) > 0
    }
}
