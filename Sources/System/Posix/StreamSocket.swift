// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// The result of trying to receive bytes of a stream.
package enum ReceivedBytes: Equatable, Sendable {
    /// At least one byte.
    case bytes([UInt8])
    /// There are none yet: wait until the descriptor is readable.
    case wouldBlock
    /// The peer has closed its end.
    case end
}

/// A connected Unix SOCK_STREAM socket; unix(7).
///
/// It is close-on-exec, and sending and receiving never block and never raise SIGPIPE.
package struct StreamSocket: ~Copyable, Sendable {
    /// The descriptor, for polling and for `PeerCredentials`.
    package let descriptor: Descriptor

    /// Takes ownership of a connected socket, which must already be non-blocking.
    fileprivate init(adopting descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Connects to the listening socket at a path; connect(2).
    ///
    /// - Throws: EAGAIN immediately if the listener's queue is full, ECONNREFUSED if nothing
    ///   listens.
    package static func connect(to path: String) throws(SystemFault) -> StreamSocket {
        let address = try SocketAddress(path: path)
        let descriptor = try streamSocket()
        let number = descriptor.number
        let result = unsafe address.withAddress { unsafe Glibc.connect(number, $0, $1) }
        guard result == 0 else { throw SystemFault.current("connect", on: path) }
        return StreamSocket(adopting: descriptor)
    }

    /// Ends the connection in both directions, which also ends waits for it; shutdown(2).
    package borrowing func shutDown() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }

    /// Sends as many bytes as fit, send(2) with MSG_NOSIGNAL; nil if none do now.
    package borrowing func send(_ bytes: ArraySlice<UInt8>) throws(SystemFault) -> Int? {
        let number = descriptor.number
        let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
        let result = unsafe bytes.withUnsafeBytes { bytes in
            retryingInterrupted { unsafe Glibc.send(number, bytes.baseAddress, bytes.count, flags) }
        }
        guard result >= 0 else {
            if errno == EAGAIN || errno == EWOULDBLOCK { return nil }
            throw SystemFault.current("send")
        }
        return result
    }

    /// Receives at most `limit` bytes, at least one; recv(2).
    package borrowing func receive(limit: Int) throws(SystemFault) -> ReceivedBytes {
        var bytes = [UInt8](repeating: 0, count: max(1, limit))
        let number = descriptor.number
        let result = unsafe bytes.withUnsafeMutableBytes { place in
            retryingInterrupted {
                unsafe recv(number, place.baseAddress, place.count, Int32(MSG_DONTWAIT))
            }
        }
        guard result >= 0 else {
            if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
            throw SystemFault.current("recv")
        }
        guard result > 0 else { return .end }
        bytes.removeLast(bytes.count - result)
        return .bytes(bytes)
    }
}

/// A listening Unix SOCK_STREAM socket, which never blocks.
package struct StreamListener: ~Copyable, Sendable {
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

    /// Binds a socket to a path and listens, bind(2), listen(2); only the caller's user may connect.
    ///
    /// A socket there that no one listens at is replaced.
    ///
    /// - Throws: EADDRINUSE if another process listens at the path, or it is no socket.
    package static func listen(at path: String) throws(SystemFault) -> StreamListener {
        let address = try SocketAddress(path: path)
        do throws(SystemFault) {
            _ = try StreamSocket.connect(to: path)
            throw SystemFault("bind", on: path, code: EADDRINUSE)
        } catch {
            switch error.code {
            case ENOENT: break
            // A file that is no socket refuses connections, too.
            case ECONNREFUSED where isSocket(path): PacketListener.remove(path)
            default: throw error
            }
        }
        let descriptor = try streamSocket()
        let number = descriptor.number
        // The mode set before bind(2) limits that of the socket's file.
        guard fchmod(number, 0o600) == 0 else { throw SystemFault.current("fchmod", on: path) }
        let bound = unsafe address.withAddress { unsafe bind(number, $0, $1) }
        guard bound == 0 else { throw SystemFault.current("bind", on: path) }
        guard unsafe chmod(path, 0o600) == 0 else { throw SystemFault.current("chmod", on: path) }
        guard Glibc.listen(number, 128) == 0 else {
            throw SystemFault.current("listen", on: path)
        }
        return try StreamListener(adopting: descriptor)
    }

    /// The path that it listens at, also if systemd has bound it; nil if it has none.
    package var path: String? { SocketAddress.path(of: descriptor.number) }

    /// Accepts the next connection, accept4(2); nil if none is waiting.
    package borrowing func accept() throws(SystemFault) -> StreamSocket? {
        let number = descriptor.number
        let kind = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let result = retryingInterrupted { accept4(number, nil, nil, kind) }
        if result == -1 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == ECONNABORTED) {
            return nil
        }
        return StreamSocket(adopting: try Descriptor(result: result, of: "accept4"))
    }
}

private func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
}

private func streamSocket() throws(SystemFault) -> Descriptor {
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return try Descriptor(result: socket(AF_UNIX, kind, 0), of: "socket")
}
