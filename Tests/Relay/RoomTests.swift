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
        let scratch = try Scratch()
        let socket = scratch.at("relay.sock")
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let relay = try TestSupport.Program(
            Command(
                [
                    "prlimit", "--nofile=\(limit):\(limit)", Layout.products + "/signet-relay",
                    "--config", "/nonexistent/signet.conf", "--socket", socket,
                ], environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
        defer {
            relay.signal(SIGKILL)
            _ = try? relay.expectEnd()
        }
        // One that has no descriptor left to say so is given up.
        guard notices.hearReady(within: limit < 32 ? .seconds(1) : .seconds(20)) else { return nil }
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
}
