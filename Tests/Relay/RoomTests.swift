import Glibc
import Posix
import TestSupport
import Testing
import Wire

@Suite("The relay on a machine that has nothing left")
struct RoomTests {
    private static var challenge: RelayRequest {
        .challenge(
            RelayChallengeWish(
                server: Bytes("https://no-such-host.invalid".utf8), account: Bytes("alice".utf8),
                device: Bytes(repeating: 1, count: 16), application: Bytes("shop".utf8),
                action: Bytes("login".utf8)))
    }

    /// What a relay says that may have so many descriptors; nil where it ends, or hangs up.
    private func answer(withDescriptors limit: Int) throws -> RelayAnswer? {
        // One that has no descriptor left to say that it is ready is given up.
        try answer(
            through: ["prlimit", "--nofile=\(limit):\(limit)"],
            within: limit < 32 ? .seconds(4) : .seconds(20))
    }

    /// What a relay says that is started by another program.
    private func answer(
        through starter: [String], within patience: Duration = .seconds(20)
    ) throws -> RelayAnswer? {
        let scratch = try Scratch()
        let socket = scratch.at("relay.sock")
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let relay = try TestSupport.Program(
            Command(
                starter + [
                    Layout.products + "/signet-relay",
                    "--config", "/nonexistent/signet.conf", "--socket", socket,
                ], environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
        defer {
            relay.signal(SIGKILL)
            _ = try? relay.expectEnd()
        }
        guard notices.hearReady(within: patience) else { return nil }
        let connection = try PacketSocket.connect(to: socket)
        guard case .whole = try connection.send(Self.challenge.encoded()) else { return nil }
        let deadline = ContinuousClock.now + .seconds(20)
        guard wait(for: connection.descriptor.number, or: -1, until: deadline) == .readable,
            case .packet(let packet)? = try? connection.receive(limit: Frame.maximumLength)
        else { return nil }
        return try RelayAnswer(decoding: packet)
    }

    @Test("does not call a server away of which it cannot look up the name")
    func lookUp() throws {
        var told = 0
        for limit in stride(from: 8, to: 26, by: 2) {
            guard let answer = try answer(withDescriptors: limit) else { continue }
            told += 1
            #expect(answer.isAway == false && answer.isRepeatable == true, "\(limit): \(answer)")
        }
        #expect(told > 0)
        #expect(try answer(withDescriptors: 256)?.isAway == true)
    }

    /// Becomes the program of its arguments, with a part of the ports of a network of its own taken.
    private func taking(_ ports: [Int]) -> [String] {
        let script = """
            import os, socket, sys
            open("/proc/sys/net/ipv4/ip_local_port_range", "w").write("40000 40001")
            for port in map(int, sys.argv[1].split()):
                taken = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
                taken.bind(("::", port))
                os.set_inheritable(taken.detach(), True)
            os.execv(sys.argv[2], sys.argv[2:])
            """
        let list = ports.map { "\($0)" }.joined(separator: " ")
        return ["unshare", "--net", "python3", "-c", script, list]
    }

    @Test("does not call a server away where somebody has taken all ports to look up its name with")
    func ports() throws {
        #expect(try answer(through: taking([40_000, 40_001]))?.isAway == false)
        #expect(try answer(through: taking([40_000]))?.isAway == true)
    }
}
