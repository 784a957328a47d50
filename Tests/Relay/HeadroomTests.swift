// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

@Suite("The relay on a machine that has nothing left")
struct HeadroomTests {
    private static var challenge: RelayRequest {
        .challenge(
            RelayChallengeRequest(
                server: "https://no-such-host.invalid", account: "alice",
                device: .sample(repeating: 1), application: "shop",
                action: Bytes("login".utf8), milliseconds: 2_500))
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

    @Test("does not call a server unreachable if its name cannot be looked up")
    func lookUp() throws {
        var told = 0
        for limit in stride(from: 8, to: 24, by: 2) {
            guard let answer = try answer(withDescriptors: limit) else { continue }
            told += 1
            #expect(answer.isAway == false && answer.isRepeatable == true, "\(limit): \(answer)")
        }
        #expect(told > 0)
        #expect(try answer(withDescriptors: 256)?.isAway == true)
    }

    /// Becomes the program of its arguments, after a part of a network and of files of its own was
    /// made, as the script says.
    private func prepared(_ script: String) -> [String] {
        let common = """
            import os, socket, subprocess, sys
            def run(*command): subprocess.run(command, check=True)
            def write(path, text): open(path, "w").write(text)
            def replace(path, text):
                run("mount", "-t", "tmpfs", "none", "/mnt")
                write("/mnt/new", text)
                run("mount", "--bind", "/mnt/new", path)
            def take(address, port, family=socket.AF_INET6, kind=socket.SOCK_DGRAM):
                taken = socket.socket(family, kind)
                taken.bind((address, port))
                os.set_inheritable(taken.detach(), True)

            """
        return [
            "unshare", "--net", "--mount", "--propagation", "private", "python3", "-c",
            common + script + "\nos.execv(sys.argv[1], sys.argv[1:])",
        ]
    }

    private static let fewPorts = "write('/proc/sys/net/ipv4/ip_local_port_range', '40000 40001')\n"

    /// The same, with a part of all ports taken.
    private func taking(_ ports: [Int]) -> [String] {
        prepared(Self.fewPorts + ports.map { "take('::', \($0))\n" }.joined())
    }

    @Test("does not call a server unreachable if all ports to look up its name with are taken")
    func ports() throws {
        #expect(try answer(through: taking([40_000, 40_001]))?.isAway == false)
        #expect(try answer(through: taking([40_000]))?.isAway == true)
    }

    @Test(
        "does not call a server unreachable if all ports to connect with are taken",
        arguments: [40_000...40_000, 40_000...40_001])
    func connectionPorts(taken: ClosedRange<Int>) throws {
        // Two addresses: what the second one fails of is another thing.
        let machine = prepared(
            Self.fewPorts + """
                run("ip", "link", "set", "lo", "up")
                replace("/etc/hosts", "127.0.0.1 no-such-host.invalid\\n2001:db8::1 no-such-host.invalid\\n")
                replace("/etc/nsswitch.conf", "hosts: files\\n")
                for port in range(\(taken.lowerBound), \(taken.upperBound) + 1):
                    take("0.0.0.0", port, socket.AF_INET, socket.SOCK_STREAM)
                """)
        let answer = try #require(try answer(through: machine))
        #expect(answer.isAway == (taken.count == 1), "\(answer)")
    }

    @Test("calls a server away that answers no attempt to connect")
    func swallowed() throws {
        // Where the queue of connections is full, the kernel drops what asks for another one.
        let machine = prepared(
            """
            run("ip", "link", "set", "lo", "up")
            replace("/etc/hosts", "127.0.0.1 no-such-host.invalid\\n")
            replace("/etc/nsswitch.conf", "hosts: files\\n")
            full = socket.socket()
            full.bind(("127.0.0.1", 443))
            full.listen(0)
            waiting = [full] + [socket.socket() for _ in range(4)]
            for one in waiting[1:]:
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", 443))
            for one in waiting: os.set_inheritable(one.detach(), True)
            """)
        let answer = try #require(try answer(through: machine))
        #expect(answer.isAway == true && answer.isRepeatable == true, "\(answer)")
    }

    @Test("waits for a name server up to its own limit, and then calls the server unreachable")
    func silentNameServer() throws {
        // Longer than this test waits: only who does not wait for it is in time.
        let silent = prepared(
            """
            run("ip", "link", "set", "lo", "up")
            take("::", 53)
            replace("/etc/resolv.conf", "nameserver 127.0.0.1\\noptions timeout:30 attempts:3\\n")
            replace("/etc/nsswitch.conf", "hosts: dns\\n")
            """)
        let answer = try #require(try answer(through: silent))
        #expect(answer.isAway == true && answer.isRepeatable == true, "\(answer)")
    }

    @Test(
        "calls a server away that cannot be reached, also where IPv6 is switched off",
        arguments: [0, 1])
    func withoutIPv6(isOff: Int) throws {
        let machine = prepared(
            """
            run("ip", "link", "set", "lo", "up")
            write("/proc/sys/net/ipv6/conf/all/disable_ipv6", "\(isOff)")
            replace("/etc/hosts", "127.0.0.1 no-such-host.invalid\\n::1 no-such-host.invalid\\n")
            replace("/etc/nsswitch.conf", "hosts: files\\n")
            """)
        let answer = try #require(try answer(through: machine))
        #expect(answer.isAway == true && answer.isRepeatable == true, "\(answer)")
    }
}
