// SPDX-License-Identifier: Apache-2.0
import Glibc
import Posix
import TestSupport
import Testing

@Suite("packet sockets")
struct SocketTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test("packets arrive whole and apart, and the end shows")
    func roundTrip() throws {
        let listener = try PacketListener.listen(at: scratch.at("s"), mode: 0o600)
        #expect(try listener.accept() == nil)
        let client = try PacketSocket.connect(to: scratch.at("s"))
        let accepted = try listener.accept()
        guard let server = consume accepted else {
            Issue.record("no connection")
            return
        }
        #expect(try server.receive(limit: 10) == .wouldBlock)
        #expect(try client.send([1, 2]) == .whole)
        #expect(try client.send([3]) == .whole)
        #expect(try server.receive(limit: 2) == .packet([1, 2]))
        #expect(try server.receive(limit: 2) == .packet([3]))
        _ = consume client
        #expect(try server.receive(limit: 2) == .end)
        #expect(throws: SystemFault("send", code: EPIPE)) { try server.send([1]) }
    }

    @Test("the kernel names the sender of a packet, from the first one on, for every receiver")
    func senders() throws {
        let path = scratch.at("named")
        let activator = try Program(
            Command([
                "systemd-socket-activate", "--seqpacket", "--listen", path, "setpriv", "--reuid",
                "4242", "--clear-groups", "python3", "-c",
                "import socket; a = socket.socket(fileno=3).accept()[0]; a.send(b'x'); a.recv(1)",
            ]))
        defer { activator.signal(SIGKILL) }
        try activator.expectError("Listening on")
        let client = try PacketSocket.connect(to: path, namingSenders: true)
        #expect(try PeerCredentials(of: client.descriptor).uid == 0)
        let deadline = ContinuousClock.now + .seconds(20)
        try #require(wait(for: client.descriptor.number, or: -1, until: deadline) == .readable)
        let (received, sender) = try client.receiveWithSender(limit: 10)
        #expect(received == .packet(Array("x".utf8)) && sender == 4242)
    }

    @Test("it names no sender without being asked to")
    func unnamed() throws {
        let pair = try PacketSocket.pair()
        #expect(try pair.first.send([1]) == .whole)
        let (received, sender) = try pair.second.receiveWithSender(limit: 10)
        #expect(received == .packet([1]) && sender == nil)
    }

    @Test("a packet over the limit is reported and dropped, not cut")
    func tooLong() throws {
        let pair = try PacketSocket.pair()
        #expect(try pair.first.send([1, 2, 3]) == .whole)
        #expect(try pair.first.send([4]) == .whole)
        #expect(try pair.second.receive(limit: 2) == .tooLong)
        #expect(try pair.second.receive(limit: 2) == .packet([4]))
    }

    @Test("a peer that does not read makes sending wait, not block")
    func fullBuffer() throws {
        let pair = try PacketSocket.pair()
        let packet = [UInt8](repeating: 7, count: 4096)
        var last = Sent.whole
        for _ in 0..<10_000 where last == .whole { last = try pair.first.send(packet) }
        #expect(last == .wouldBlock)
    }

    @Test("an empty packet is refused: it would look like the end")
    func emptyPacket() throws {
        let pair = try PacketSocket.pair()
        #expect(throws: SystemFault("send", code: EINVAL)) { try pair.first.send([]) }
    }

    @Test("the kernel names the peer")
    func credentials() throws {
        let pair = try PacketSocket.pair()
        let peer = try PeerCredentials(of: pair.first.descriptor)
        #expect(peer == PeerCredentials(pid: getpid(), uid: getuid(), gid: getgid()))
    }

    @Test("a descriptor that is not a connected socket has no peer")
    func noPeer() throws {
        let file = Descriptor(adopting: unsafe open("/dev/null", O_RDONLY | O_CLOEXEC))
        #expect(throws: SystemFault("getsockopt", code: ENOTSOCK)) {
            try PeerCredentials(of: file)
        }
        let internet = Descriptor(adopting: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        #expect(throws: SystemFault.self) { try PeerCredentials(of: internet) }
    }

    @Test("a missing listener, a path that is too long, and a path with a NUL are refused")
    func refusals() throws {
        #expect(throws: SystemFault("connect", on: scratch.at("s"), code: ENOENT)) {
            _ = try PacketSocket.connect(to: scratch.at("s"))
        }
        let long = "/" + String(repeating: "a", count: 107)
        #expect(throws: SystemFault("connect", on: long, code: ENAMETOOLONG)) {
            _ = try PacketSocket.connect(to: long)
        }
        #expect(throws: SystemFault("connect", on: "/a\0b", code: EINVAL)) {
            _ = try PacketSocket.connect(to: "/a\0b")
        }
    }

    @Test("the node has the requested mode, and descriptors do not outlive exec")
    func modes() throws {
        let listener = try PacketListener.listen(at: scratch.at("s"), mode: 0o666)
        var status = stat()
        #expect(unsafe stat(scratch.at("s"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o666)
        let client = try PacketSocket.connect(to: scratch.at("s"))
        let accepted = try listener.accept()
        guard let server = consume accepted else {
            Issue.record("no connection")
            return
        }
        for number in [
            listener.descriptor.number, client.descriptor.number, server.descriptor.number,
        ] {
            #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
            #expect(fcntl(number, F_GETFL) & O_NONBLOCK != 0)
        }
    }

    @Test("an owner closes its descriptor, and one that gave it away does not")
    func ownership() throws {
        let number = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        let kept = try Descriptor(adopting: number).duplicate()
        #expect(fcntl(number, F_GETFD) == -1)
        let given = kept.release()
        #expect(fcntl(given, F_GETFD) >= 0)
        _ = Descriptor(adopting: given)
        #expect(fcntl(given, F_GETFD) == -1)
    }
}
