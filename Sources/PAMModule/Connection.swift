// SPDX-License-Identifier: Apache-2.0
import CPAMModule
import LoginMessages
import LoginProtocol
import ModuleOptions

/// A conversation with the daemon over its socket; ends, and cancels, when nobody has it any more.
struct Connection: ~Copyable {
    private let socket: Descriptor
    /// More frames than any touch can give rise to.
    private static let maximumFrames = 1_000
    private var frames = 0
    /// The password that came with an answer; the answer itself has only zeros.
    private var password: SecretLine?

    /// The descriptor to poll for answers.
    var descriptor: Int32 { socket.number }

    private init(socket: consuming Descriptor) {
        self.socket = socket
        password = nil
    }

    /// Connects, and makes sure that the other end is root; waits for no longer than 200 ms, where
    /// others are before it.
    static func open(_ path: Bytes) throws(LoginFailure) -> Connection {
        do throws(TrustedPath.Fault) {
            try TrustedPath.checkSocket(path)
        } catch {
            switch error {
            case .absent: throw .unavailable("signetd is not there", shown: Prompt.silent)
            case .failed: throw .unavailable("no way to the socket", shown: Prompt.silent)
            case .untrusted: throw .refused("the path of signetd's socket is not to be trusted")
            }
        }
        let type = Int32(bitPattern: SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        guard let socket = Descriptor(adopting: CPAMModule.socket(AF_UNIX, type, 0)) else {
            throw .unavailable("no socket", shown: Prompt.silent)
        }
        guard try connect(socket.number, to: path) else {
            throw .unavailable("signetd takes no connection", shown: Prompt.silent)
        }
        guard let daemon = peer(of: socket.number), daemon.uid == 0 else {
            throw .refused("the daemon is not root")
        }
        return Connection(socket: socket)
    }

    /// How long to wait for a place in the daemon's queue.
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
            // connect(2) waits for a place in a full queue as long as SO_SNDTIMEO says; socket(7).
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

    /// SO_PEERCRED, unix(7): who listens, or listened for a daemon that systemd starts.
    static func peer(of socket: Int32) -> ucred? {
        var peer = ucred()
        var length = socklen_t(MemoryLayout<ucred>.size)
        guard unsafe getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0,
            length == socklen_t(MemoryLayout<ucred>.size)
        else { return nil }
        return peer
    }

    /// Sends a request in one packet.
    func send(_ request: () throws(WireFault) -> Bytes) throws(LoginFailure) {
        guard var frame = try? request() else {
            throw .declined("the login's names do not fit a request")
        }
        // It may hold a password.
        defer { wipe(&frame) }
        let sent = unsafe frame.withUnsafeBytes { bytes in
            unsafe CPAMModule.send(
                socket.number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
        guard sent == frame.count else {
            throw .unavailable("signetd takes no request", shown: Prompt.silent)
        }
    }

    /// The next answer, if one is there.
    mutating func receive() throws(LoginFailure) -> LoginAnswer? {
        guard let length = try nextLength() else { return nil }
        frames += 1
        guard frames <= Connection.maximumFrames else { throw .refused("too many answers") }
        guard length <= Frame.maximumLength else { throw .refused("an answer is too long") }
        var packet = Bytes(repeating: 0, count: length)
        let number = socket.number
        let count = unsafe packet.withUnsafeMutableBytes { bytes in
            unsafe recv(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
        }
        guard count == length else { throw .refused("an answer is not what it was") }
        password = PasswordFrame.take(from: &packet) { SecretLine(copying: $0) }
        guard let answer = try? LoginAnswer(decoding: packet) else {
            throw .refused("an answer is malformed")
        }
        return answer
    }

    /// The length in bytes of the next answer, if one is there: room is made for it and no more, since
    /// what is touched of the application's memory stays with it.
    ///
    /// Source: `MSG_TRUNC`, recv(2).
    private func nextLength() throws(LoginFailure) -> Int? {
        let flags = Int32(MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT)
        let length = recv(socket.number, nil, 0, flags)
        if length < 0, current_errno() == EAGAIN || current_errno() == EINTR { return nil }
        guard length > 0 else {
            throw .unavailable("signetd ended the connection", shown: Prompt.silent)
        }
        return length
    }

    /// The password that came with the last answer, if one did.
    mutating func consumePassword() -> SecretLine? { password.take() }

    /// Tells the daemon something, and waits so many milliseconds at the most for it to be heard:
    /// whatever the answer is.
    @inline(never)
    static func report(
        _ arguments: [Bytes], _ milliseconds: UInt32, _ request: () throws(WireFault) -> Bytes
    ) throws(LoginFailure) {
        guard let options = try? ModuleOptions(parsing: arguments) else { return }
        let deadline = Deadline(milliseconds: milliseconds)
        let daemon = try open(options.socket)
        try daemon.send(request)
        _ = daemon.wait(until: deadline)
    }

    /// Waits until an answer may be there; false when the time is up first.
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
