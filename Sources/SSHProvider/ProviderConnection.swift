// SPDX-License-Identifier: Apache-2.0
import CSSHProvider
import LoginProtocol
import SSHProtocol

/// A connection to signetd's socket for one request.
///
/// `open` checks that root listens at the other end, so nothing is sent to anything else. The
/// connection is closed when the value is destroyed, and signetd then cancels a touch that is still
/// awaited. The number, length and form of answers are checked; nothing else in them is trusted.
struct ProviderConnection: ~Copyable {
    private let socket: Int32
    private var frames = 0

    /// More answers than any request causes: one for each key, and the notices of a touch.
    private static let maximumFrames = 1_000
    /// The longest time in milliseconds to wait for a place in the daemon's queue.
    private static let queueMilliseconds: Int32 = 2_000

    private init(adopting socket: Int32) {
        self.socket = socket
    }

    deinit {
        _ = close(socket)
    }

    /// Connects to the socket at a path, and checks that `isTrusted` holds for the uid that listens
    /// there; SO_PEERCRED, unix(7).
    static func open(
        _ path: Bytes, trusting uid: UInt32
    ) throws(ProviderFault) -> ProviderConnection {
        let type = Int32(bitPattern: SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
        let number = CSSHProvider.socket(AF_UNIX, type, 0)
        guard number >= 0 else { throw .away }
        let connection = ProviderConnection(adopting: number)
        try connection.connect(to: path)
        var peer = ucred()
        var length = socklen_t(MemoryLayout<ucred>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0,
            length == socklen_t(MemoryLayout<ucred>.size), peer.uid == uid
        else { throw .untrusted }
        return connection
    }

    private borrowing func connect(to path: Bytes) throws(ProviderFault) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .away }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        // connect(2) waits for a place in a full queue for as long as SO_SNDTIMEO says.
        var time = timeval(tv_sec: time_t(Self.queueMilliseconds / 1_000), tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard unsafe setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, size) == 0 else {
            throw .away
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = unsafe withUnsafePointer(to: &address) { address in
            unsafe connect_provider(socket, address, length)
        }
        guard code == 0 else { throw .away }
    }

    /// Sends a request as one packet.
    borrowing func send(_ packet: Bytes) throws(ProviderFault) {
        let number = socket
        let sent = unsafe packet.withUnsafeBytes { bytes in
            unsafe CSSHProvider.send(
                number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
        }
        guard sent == packet.count else { throw .away }
    }

    /// Waits for the next answer.
    mutating func answer(until deadline: ProviderDeadline) throws(ProviderFault) -> SSHAnswer {
        frames += 1
        guard frames <= Self.maximumFrames else { throw .untrusted }
        let packet = try packet(until: deadline)
        do throws(WireFault) {
            return try SSHAnswer(decoding: packet)
        } catch { throw .untrusted }
    }

    /// Whether there is an answer, for which it waits until the deadline.
    borrowing func hasAnswer(until deadline: ProviderDeadline) throws(ProviderFault) -> Bool {
        var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            let left = deadline.millisecondsLeft
            let ready = unsafe poll(&request, 1, left)
            if ready > 0 { return true }
            if left == 0 { return false }
            guard ready == 0 || provider_errno() == EINTR else { throw .away }
        }
    }

    private borrowing func packet(until deadline: ProviderDeadline) throws(ProviderFault) -> Bytes {
        guard try hasAnswer(until: deadline) else { throw .silent }
        // One byte more than a frame may have, so that a longer packet is noticed.
        var packet = Bytes(repeating: 0, count: Frame.maximumLength + 1)
        let number = socket
        let count = unsafe packet.withUnsafeMutableBytes { bytes in
            unsafe recv(
                number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else { throw .away }
        guard count <= Frame.maximumLength else { throw .untrusted }
        return Bytes(packet.prefix(count))
    }
}
