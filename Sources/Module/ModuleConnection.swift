// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import ModuleOptions

/// A connection to the daemon's socket, on which one login or one report takes place.
///
/// `open` checks that only root can have created the socket and that its other end is root. The
/// connection is closed when the value is destroyed, and the daemon then cancels a touch that is
/// still awaited. Nothing here is trusted beyond its form: `receive` limits the number and length
/// of answers, and rejects malformed ones.
final class ModuleConnection {
    private let socket: ModuleDescriptor
    /// The limit on answers in one connection, more than any touch can cause.
    private static let maximumFrames = 1_000
    private var frames = 0
    /// The password that came with the last answer; the decoded packet has only zeros in its place.
    private var password: SecretLine?

    /// The descriptor to poll for answers.
    var descriptor: Int32 { socket.number }

    private init(socket: consuming ModuleDescriptor) {
        self.socket = socket
        password = nil
    }

    /// Connects, and checks that the peer is root; waits at most 200 ms if the daemon's queue is
    /// full.
    ///
    /// - Throws: `.unavailable` if the daemon cannot be reached, `.refused` if the path or the peer
    ///   is not root's.
    static func open(_ path: Bytes) throws(LoginFailure) -> ModuleConnection {
        do throws(TrustedPath.Fault) {
            try TrustedPath.checkSocket(path)
        } catch {
            switch error {
            case .absent: throw .silent("signetd's socket does not exist")
            case .failed: throw .silent("signetd cannot be reached")
            case .untrusted: throw .refused("the path of signetd's socket is not trusted")
            }
        }
        let type = Int32(bitPattern: SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard let socket = ModuleDescriptor(adopting: CPAMModule.socket(AF_UNIX, type, 0)) else {
            throw .silent("a socket could not be created")
        }
        guard try connect(socket.number, to: path) else {
            throw .silent("signetd cannot be reached")
        }
        guard let daemon = peer(of: socket.number), daemon.uid == 0 else {
            throw .refused("the daemon is not root")
        }
        return ModuleConnection(socket: socket)
    }

    /// The maximum time in milliseconds to wait for a place in the daemon's queue.
    private static let queueMilliseconds: UInt32 = 200

    private static func connect(_ socket: Int32, to path: Bytes) throws(LoginFailure) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < room else { return false }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path)
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let deadline = Deadline(milliseconds: queueMilliseconds)
        while true {
            // connect(2) waits for a place in a full queue for up to SO_SNDTIMEO; socket(7).
            var time = timeval(
                tv_sec: 0, tv_usec: __suseconds_t(max(1, deadline.millisecondsLeft)) * 1_000)
            guard
                unsafe setsockopt(
                    socket, SOL_SOCKET, SO_SNDTIMEO, &time,
                    socklen_t(MemoryLayout<timeval>.size)) == 0
            else { return false }
            let code = unsafe withUnsafePointer(to: &address) { address in
                unsafe connect_to(socket, address, length)
            }
            if code == 0 { return true }
            guard current_errno() == EINTR, deadline.millisecondsLeft > 0 else { return false }
        }
    }

    /// Returns the peer's credentials, SO_PEERCRED, unix(7).
    ///
    /// These are the process that called listen(2): systemd, if it started the daemon for this
    /// socket.
    static func peer(of socket: Int32) -> ucred? {
        var peer = ucred()
        var length = socklen_t(MemoryLayout<ucred>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0,
            length == socklen_t(MemoryLayout<ucred>.size)
        else { return nil }
        return peer
    }

    /// Sends a request as one packet, then wipes it; throws `.declined` if there is none because it
    /// could not be encoded.
    func send(_ request: consuming Bytes?) throws(LoginFailure) {
        guard var frame = consume request else {
            throw .declined("the login cannot be encoded as a request")
        }
        // The request may contain a password.
        defer { wipe(&frame) }
        let sent = unsafe frame.withUnsafeBytes { bytes in
            unsafe CPAMModule.send(
                socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        guard sent == frame.count else {
            throw .silent("signetd did not accept the request")
        }
    }

    /// Returns the next answer, or nil if none has arrived.
    ///
    /// - Throws: `.unavailable` if the daemon closed the connection; `.refused` for too many, too
    ///   long or malformed answers.
    func receive() throws(LoginFailure) -> LoginAnswer? {
        guard let length = try nextLength() else { return nil }
        frames += 1
        guard frames <= ModuleConnection.maximumFrames else { throw .refused("too many answers") }
        guard length <= Frame.maximumLength else { throw .refused("an answer is too long") }
        var packet = Bytes(repeating: 0, count: length)
        let number = socket.number
        let count = unsafe packet.withUnsafeMutableBytes { bytes in
            unsafe recv(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
        }
        guard count == length else { throw .refused("an answer changed while it was read") }
        password = PasswordFrame.take(from: &packet) { SecretLine(copying: $0) }
        guard let answer = try? LoginAnswer(decoding: packet) else {
            throw .refused("an answer is malformed")
        }
        return answer
    }

    /// Returns the length in bytes of the next answer, or nil if none has arrived.
    ///
    /// Exactly this much memory is allocated, because the application's heap does not shrink again.
    /// MSG_TRUNC, recv(2), returns the packet's real length.
    private func nextLength() throws(LoginFailure) -> Int? {
        let flags = Int32(MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT)
        let length = recv(socket.number, nil, 0, flags)
        if length < 0, current_errno() == EAGAIN || current_errno() == EINTR { return nil }
        guard length > 0 else {
            throw .silent("signetd closed the connection")
        }
        return length
    }

    /// Takes the password that came with the last answer; nil if there was none.
    func consumePassword() -> SecretLine? { password.take() }

    /// Sends one message on a new connection and waits for an answer, whatever it is.
    ///
    /// - Parameter arguments: the stack's line; nothing is sent if it has an invalid option.
    /// - Parameter milliseconds: the longest time to wait for the answer.
    @inline(never)
    static func report(
        _ arguments: [Bytes], milliseconds: UInt32, _ request: () throws(WireFault) -> Bytes
    ) throws(LoginFailure) {
        guard let options = try? Application.options(arguments) else { return }
        let deadline = Deadline(milliseconds: milliseconds)
        let daemon = try open(options.socket)
        try daemon.send(try? request())
        _ = daemon.wait(until: deadline)
    }

    /// Waits until an answer may have arrived; returns false if the deadline passes first.
    func wait(until deadline: Deadline) -> Bool {
        var request = pollfd(fd: socket.number, events: Int16(POLLIN), revents: 0)
        while true {
            let left = deadline.millisecondsLeft
            let count = unsafe poll(&request, 1, left)
            if count > 0 { return true }
            if left == 0 { return false }
        }
    }
}

/// Overwrites bytes that may hold a secret; explicit_bzero(3).
private func wipe(_ bytes: inout Bytes) {
    unsafe bytes.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        unsafe explicit_bzero(start, bytes.count)
    }
}
