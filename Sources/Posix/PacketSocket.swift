// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// What came out of one attempt to receive.
package enum Received: Equatable, Sendable {
    /// One whole packet.
    case packet([UInt8])
    /// A packet longer than the limit; it is gone, and the connection should be too.
    case tooLong
    /// Nothing there yet: wait for the descriptor to become readable.
    case wouldBlock
    /// The peer has closed its end.
    case end
}

/// What came out of one attempt to send.
package enum Sent: Equatable, Sendable {
    /// The packet was taken as a whole.
    case whole
    /// The peer reads too slowly: wait for the descriptor to become writable.
    case wouldBlock
}

/// A connected Unix SOCK_SEQPACKET socket: close-on-exec, never blocking, never raising SIGPIPE.
package struct PacketSocket: ~Copyable, Sendable {
    /// The descriptor, for polling and for `PeerCredentials`.
    package let descriptor: Descriptor

    /// Takes over a connected socket that is already non-blocking.
    package init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects to a listening socket's path; connect(2).
    ///
    /// With `namingSenders`, the kernel tells who sent each packet, the first one included; unix(7),
    /// SO_PASSCRED. Throws EAGAIN at once if the listener's queue is full, ECONNREFUSED if nobody listens.
    package static func connect(
        to path: String, namingSenders: Bool = false
    ) throws(SystemFault) -> PacketSocket {
        let address = try SocketAddress(path: path)
        let descriptor = try packetSocket()
        if namingSenders { try nameSenders(on: descriptor) }
        let number = descriptor.number
        let result = unsafe address.withAddress { unsafe Glibc.connect(number, $0, $1) }
        guard result == 0 else { throw SystemFault.current("connect", on: path) }
        return PacketSocket(adopting: descriptor)
    }

    /// Makes two sockets that are connected to each other; socketpair(2).
    package static func pair() throws(SystemFault) -> PacketPair {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw SystemFault.current("socketpair")
        }
        return PacketPair(
            first: PacketSocket(adopting: Descriptor(adopting: ends[0])),
            second: PacketSocket(adopting: Descriptor(adopting: ends[1])))
    }

    /// Sends one packet of 1 byte or more; send(2) with MSG_NOSIGNAL.
    ///
    /// Throws EPIPE where the peer is gone and EMSGSIZE where the packet does not fit a buffer.
    package borrowing func send(_ packet: [UInt8]) throws(SystemFault) -> Sent {
        guard !packet.isEmpty else { throw SystemFault("send", code: EINVAL) }
        let number = descriptor.number
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let result = unsafe packet.withUnsafeBytes { bytes in
            retryingInterrupted { unsafe Glibc.send(number, bytes.baseAddress, bytes.count, flags) }
        }
        guard result >= 0 else {
            if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
            throw SystemFault.current("send")
        }
        // A packet goes whole or not at all.
        guard result == packet.count else { throw SystemFault("send", code: EIO) }
        return .whole
    }

    /// As `receive(limit:)`, with the uid of the packet's sender: nil if the kernel did not tell it. The
    /// socket must have been connected with `namingSenders`. Descriptors passed with a packet are closed.
    package borrowing func receiveWithSender(
        limit: Int
    ) throws(SystemFault) -> (received: Received, sender: UInt32?) {
        var sender = UInt32.max
        let received = try unsafe receive(limit: limit) { number, bytes, flags in
            unsafe receive_with_sender(number, bytes.baseAddress, bytes.count, flags, &sender)
        }
        return (received, sender == .max ? nil : sender)
    }

    /// Ends the connection in both directions, even if another process holds the descriptor; shutdown(2).
    package borrowing func shutDown() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Has the peer read the end, after what was sent; it can still say something. shutdown(2).
    package borrowing func endSending() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Takes one packet of at most `limit` bytes; recv(2) with MSG_TRUNC, so that a longer one shows.
    package borrowing func receive(limit: Int) throws(SystemFault) -> Received {
        try unsafe receive(limit: limit) { number, bytes, flags in
            unsafe recv(number, bytes.baseAddress, bytes.count, flags)
        }
    }

    private borrowing func receive(
        limit: Int, _ call: (Int32, UnsafeMutableRawBufferPointer, Int32) -> Int
    ) throws(SystemFault) -> Received {
        var packet = [UInt8](repeating: 0, count: max(1, limit))
        let number = descriptor.number
        let flags = Int32(MSG_TRUNC | MSG_DONTWAIT)
        let result = unsafe packet.withUnsafeMutableBytes { bytes in
            retryingInterrupted { unsafe call(number, bytes, flags) }
        }
        guard result >= 0 else {
            if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
            throw SystemFault.current("recv")
        }
        if result == 0 { return .end }
        guard result <= limit else { return .tooLong }
        packet.removeLast(packet.count - result)
        return .packet(packet)
    }
}

/// Both ends of a socketpair(2).
package struct PacketPair: ~Copyable, Sendable {
    /// One end.
    package var first: PacketSocket
    /// The other.
    package var second: PacketSocket
}

/// A listening Unix SOCK_SEQPACKET socket, never blocking.
package struct PacketListener: ~Copyable, Sendable {
    /// The descriptor, for polling.
    package let descriptor: Descriptor

    /// Takes over a socket that already listens, as systemd hands over, and makes it non-blocking.
    package init(adopting descriptor: consuming Descriptor) throws(SystemFault) {
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemFault.current("fcntl")
        }
        self.descriptor = descriptor
    }

    /// Connections that wait to be accepted: as many as Linux allows (net.core.somaxconn, to which
    /// listen(2) cuts it). Anybody may connect, and a queue that one user fills while its owner is busy
    /// keeps all others out; of these, no process can hold them all with the 1,024 descriptors it has.
    package static let backlog: Int32 = 4_096

    /// Binds and listens; the path must not exist yet. The node gets exactly `mode`.
    package static func listen(
        at path: String, mode: UInt32, backlog: Int32 = PacketListener.backlog
    ) throws(SystemFault) -> PacketListener {
        let address = try SocketAddress(path: path)
        let descriptor = try packetSocket()
        let number = descriptor.number
        // The socket's mode before bind(2) is the most the node can get: no moment of more.
        guard fchmod(number, mode) == 0 else { throw SystemFault.current("fchmod", on: path) }
        let bound = unsafe address.withAddress { unsafe bind(number, $0, $1) }
        guard bound == 0 else { throw SystemFault.current("bind", on: path) }
        guard unsafe chmod(path, mode) == 0 else { throw SystemFault.current("chmod", on: path) }
        guard Glibc.listen(number, backlog) == 0 else {
            throw SystemFault.current("listen", on: path)
        }
        return try PacketListener(adopting: descriptor)
    }

    /// Takes the next connection, or nil where none waits; accept4(2).
    package borrowing func accept() throws(SystemFault) -> PacketSocket? {
        let number = descriptor.number
        let kind = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let result = retryingInterrupted {
            accept4(number, nil, nil, kind)
        }
        if result == -1 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED) {
            return nil
        }
        return PacketSocket(adopting: try Descriptor(result: result, of: "accept4"))
    }
}

private func nameSenders(on descriptor: borrowing Descriptor) throws(SystemFault) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    let result = unsafe setsockopt(descriptor.number, SOL_SOCKET, SO_PASSCRED, &on, size)
    guard result == 0 else { throw SystemFault.current("setsockopt") }
}

private func packetSocket() throws(SystemFault) -> Descriptor {
    let kind = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return try Descriptor(result: socket(AF_UNIX, kind, 0), of: "socket")
}
