// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The result of trying to receive a packet.
package enum Received: Equatable, Sendable {
    /// A complete packet.
    case packet([UInt8])
    /// A packet that exceeds the limit and is lost, so that the connection should be closed.
    case tooLong
    /// There is no packet yet: wait until the descriptor is readable.
    case wouldBlock
    /// The peer has closed its end.
    case end
}

/// The result of trying to send a packet.
package enum Sent: Equatable, Sendable {
    /// The whole packet was sent.
    case whole
    /// The peer is not reading fast enough: wait until the descriptor is writable.
    case wouldBlock
}

/// A connected Unix SOCK_SEQPACKET socket, which preserves packet boundaries; unix(7).
///
/// It is close-on-exec, and sending and receiving never block and never raise SIGPIPE.
package struct PacketSocket: ~Copyable, Sendable {
    /// The descriptor, for polling and for `PeerCredentials`.
    package let descriptor: Descriptor

    /// Takes ownership of a connected socket, which must already be non-blocking.
    package init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects to the listening socket at a path; connect(2).
    ///
    /// - Parameter namingSenders: Whether the kernel reports the sender of every packet, from the
    ///   first one on; unix(7), SO_PASSCRED.
    /// - Throws: EAGAIN immediately if the listener's queue is full, ECONNREFUSED if nothing
    ///   listens.
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

    /// Creates two sockets connected to each other; socketpair(2).
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

    /// Sends one packet of at least one byte; send(2) with MSG_NOSIGNAL.
    ///
    /// - Throws: EPIPE if the peer has closed the connection, EMSGSIZE if the packet exceeds the
    ///   send buffer, EINVAL if it is empty.
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
        // A packet is sent as a whole or not at all.
        guard result == packet.count else { throw SystemFault("send", code: EIO) }
        return .whole
    }

    /// Receives one packet like `receive(limit:)`, and reports the uid of its sender.
    ///
    /// The socket must have been connected with `namingSenders`; the uid is nil if the kernel did
    /// not report it. Descriptors that are passed with a packet are closed.
    package borrowing func receiveWithSender(
        limit: Int
    ) throws(SystemFault) -> (received: Received, sender: UInt32?) {
        var sender = UInt32.max
        let received = try unsafe receive(limit: limit) { number, bytes, flags in
            unsafe receive_with_sender(number, bytes.baseAddress, bytes.count, flags, &sender)
        }
        return (received, sender == .max ? nil : sender)
    }

    /// Ends the connection in both directions, even if another process has the descriptor;
    /// shutdown(2).
    package borrowing func shutDown() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Ends the sending direction, so that the peer reads what was sent and then the end;
    /// shutdown(2).
    package borrowing func endSending() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }

    /// Receives one packet of at most `limit` bytes; recv(2).
    ///
    /// MSG_TRUNC makes the kernel report the full length, which reveals a longer packet.
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

/// The two ends of a socketpair(2).
package struct PacketPair: ~Copyable, Sendable {
    /// One end.
    package var first: PacketSocket
    /// The other end.
    package var second: PacketSocket
}

/// A listening Unix SOCK_SEQPACKET socket, which never blocks.
package struct PacketListener: ~Copyable, Sendable {
    /// The descriptor, for polling.
    package let descriptor: Descriptor

    /// Takes ownership of a listening socket, such as one from systemd, and makes it non-blocking.
    package init(adopting descriptor: consuming Descriptor) throws(SystemFault) {
        let flags = fcntl(descriptor.number, F_GETFL)
        guard flags >= 0, fcntl(descriptor.number, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemFault.current("fcntl")
        }
        self.descriptor = descriptor
    }

    /// The length of the queue of connections that wait to be accepted.
    ///
    /// listen(2) caps it at net.core.somaxconn. Every user may connect, and a user who fills the
    /// queue while the owner is busy locks out everyone else. A process with the usual 1,024
    /// descriptors cannot fill a queue of this length.
    package static let backlog: Int32 = 4_096

    /// Binds a socket to a path, which must not exist, and listens; bind(2), listen(2).
    ///
    /// - Parameter mode: The exact mode of the socket's file, regardless of the umask.
    package static func listen(
        at path: String, mode: UInt32, backlog: Int32 = PacketListener.backlog
    ) throws(SystemFault) -> PacketListener {
        let address = try SocketAddress(path: path)
        let descriptor = try packetSocket()
        let number = descriptor.number
        // The mode set before bind(2) limits that of the socket's file, so that the file is at no
        // time more accessible than `mode` says.
        guard fchmod(number, mode) == 0 else { throw SystemFault.current("fchmod", on: path) }
        let bound = unsafe address.withAddress { unsafe bind(number, $0, $1) }
        guard bound == 0 else { throw SystemFault.current("bind", on: path) }
        guard unsafe chmod(path, mode) == 0 else { throw SystemFault.current("chmod", on: path) }
        guard Glibc.listen(number, backlog) == 0 else {
            throw SystemFault.current("listen", on: path)
        }
        return try PacketListener(adopting: descriptor)
    }

    /// Accepts the next connection, accept4(2); nil if none is waiting.
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
