// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import RelyingPartySupport
import Synchronization
import TestSupport
import Testing

@testable import Relay

@Suite("The relay's socket")
struct ServiceTests {
    /// What listens there, until the test is over.
    private final class Served {
        let scratch: Scratch
        private let stop: Event

        private let listener: Listening
        private let service: RelayService
        private let ended: Event

        init(
            caller: UInt32, isServing: Bool = true,
            _ answer: @escaping @Sendable () -> RelayAnswer = { .removed }
        ) throws {
            scratch = try Scratch()
            stop = try Event()
            ended = try Event()
            let path = scratch.at("relay.sock")
            listener = Listening(try PacketListener.replacing(path, mode: 0o600))
            service = try RelayService(caller: caller) { _ in [answer()] }
            if isServing { try serve() }
        }

        deinit { stop.happen() }

        func serve() throws {
            try onThread { [stop, ended, service, listener] in
                try? service.serve(listener.listener, until: stop.descriptor.number, idle: nil)
                ended.happen()
            }
        }

        /// Has it stop; returns whether it has within this time.
        func end(within limit: Duration = .seconds(10)) -> Bool {
            stop.happen()
            return wait(for: ended.descriptor.number, or: -1, until: .now + limit) == .readable
        }

        func connect() throws -> PacketSocket {
            try PacketSocket.connect(to: scratch.at("relay.sock"))
        }
    }

    private final class Listening: Sendable {
        let listener: PacketListener
        init(_ listener: consuming PacketListener) { self.listener = listener }
    }

    /// What comes: a packet, or nil for the end.
    private func hear(_ socket: borrowing PacketSocket) throws -> Bytes? {
        guard
            wait(
                for: socket.descriptor.number, or: -1,
                until: ContinuousClock.now + .seconds(10)) == .readable
        else { throw TestFault.deadline(awaited: "the relay", transcript: "") }
        do throws(SystemFault) {
            if case .packet(let packet) = try socket.receive(limit: Frame.maximumLength) {
                return packet
            }
        } catch { #expect(error.code == ECONNRESET) }
        return nil
    }

    private var request: Bytes {
        get throws {
            try RelayRequest.register(
                server: "https://h", code: [1], device: .sample(repeating: 1)
            ).encoded()
        }
    }

    @Test("answers all permitted callers, one request after the other")
    func served() throws {
        let served = try Served(caller: geteuid())
        let socket = try served.connect()
        for _ in 0..<3 {
            _ = try socket.send(try request)
            let packet = try #require(try hear(socket))
            #expect(try RelayAnswer(decoding: packet) == .removed)
        }
    }

    @Test("does not carry out a request whose caller has gone before it was read")
    func left() throws {
        let asked = Atomic<Int>(0)
        let served = try Served(caller: geteuid(), isServing: false) {
            asked.add(1, ordering: .relaxed)
            return .removed
        }
        do {
            let gone = try served.connect()
            _ = try gone.send(try request)
        }
        try served.serve()
        let socket = try served.connect()
        _ = try socket.send(try request)
        #expect(try hear(socket) != nil)
        #expect(served.end())
        #expect(asked.load(ordering: .relaxed) == 1)
    }

    @Test("answers the requests in progress before it stops, and waits for no others")
    func stopped() throws {
        let (asked, goOn) = (try Event(), try Event())
        let served = try Served(caller: geteuid()) {
            asked.happen()
            _ = wait(for: goOn.descriptor.number, or: -1, until: .now + .seconds(10))
            return .removed
        }
        let socket = try served.connect()
        let idle = try served.connect()
        _ = try socket.send(try request)
        let deadline = ContinuousClock.now + .seconds(10)
        #expect(wait(for: asked.descriptor.number, or: -1, until: deadline) == .readable)
        #expect(!served.end(within: .milliseconds(200)))
        #expect(try hear(idle) == nil)
        goOn.happen()
        #expect(try hear(socket) != nil)
        #expect(served.end())
    }

    @Test("says nothing to other callers")
    func foreign() throws {
        let served = try Served(caller: geteuid() + 1)
        let socket = try served.connect()
        _ = try? socket.send(try request)
        #expect(try hear(socket) == nil)
    }

    @Test(
        "ends a connection that sends an invalid request",
        arguments: [[1], [2, 64], [1, 1], [1, 64], [1, 64, 80, 0, 1, 65], [1, 255]] as [Bytes])
    func malformed(packet: Bytes) throws {
        let served = try Served(caller: geteuid())
        let socket = try served.connect()
        _ = try socket.send(packet)
        #expect(try hear(socket) == nil)
    }

    @Test("is closed to others by its mode, and the program serves it until it is stopped")
    func program() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[relay]\ntimeout = 1s\n", mode: 0o644)
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let program = try TestSupport.Program(
            Command(
                [
                    Layout.products + "/signet-relay", "--config", scratch.at("signet.conf"),
                    "--socket", scratch.at("relay.sock"),
                ],
                environment: [
                    "NOTIFY_SOCKET": scratch.at("notify"), "SSLKEYLOGFILE": scratch.at("keys"),
                    "https_proxy": "http://127.0.0.1:1",
                ]))
        try #require(notices.hearReady(within: .patience))
        var status = stat()
        #expect(unsafe stat(scratch.at("relay.sock"), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let socket = try PacketSocket.connect(to: scratch.at("relay.sock"))
        _ = try socket.send(try request)
        let packet = try #require(try hear(socket))
        guard case .unreachable = try RelayAnswer(decoding: packet) else {
            Issue.record("a server that is not there has answered")
            return
        }
        program.signal(SIGTERM)
        #expect(try program.expectEnd().succeeded)
    }

    @Test("with a mistake in its configuration no server is asked")
    func faulty() throws {
        let scratch = try Scratch()
        try scratch.write("signet.conf", "[relay]\nca-fil = /etc/own.pem\n", mode: 0o644)
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let program = try TestSupport.Program(
            Command(
                [
                    Layout.products + "/signet-relay", "--config", scratch.at("signet.conf"),
                    "--socket", scratch.at("relay.sock"),
                ], environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
        try #require(notices.hearReady(within: .patience))
        let socket = try PacketSocket.connect(to: scratch.at("relay.sock"))
        _ = try socket.send(try request)
        let packet = try #require(try hear(socket))
        let answer = try RelayAnswer(decoding: packet)
        #expect(answer.why?.contains("unknown key 'ca-fil'") == true)
        program.signal(SIGTERM)
        #expect(try program.expectEnd().succeeded)
    }

    @Test("trusts at each request the callers that the configuration names then")
    func changed() async throws {
        let server = try await LiveServer.start()
        let scratch = try Scratch()
        let settings = RelaySettings(scratch.at("signet.conf"))
        let request = RelayRequest.register(
            server: ServerURL(server.url), code: [1], device: .sample(repeating: 1))
        func isTrusted(_ text: String) throws -> Bool {
            try scratch.write("signet.conf", text, mode: 0o644)
            guard case .refused? = settings.answers(request).first else { return false }
            return true
        }
        let trusting = "[relay]\nca-file = \(server.authority)\n"
        #expect(try isTrusted(trusting))
        #expect(try !isTrusted("[relay]\n"))
        #expect(try isTrusted(trusting))
        #expect(try !isTrusted(trusting + "pin = sha256//\(String(repeating: "A", count: 43))=\n"))
        #expect(try !isTrusted("[relay]\nca-fil = x\n"))
        #expect(try isTrusted(trusting))
        // The same name, and other authorities behind it.
        try scratch.makeCertificate("other")
        let copied = "[relay]\nca-file = \(scratch.at("ca.pem"))\n"
        for (authorities, isGood) in [
            (server.authority, true), (scratch.at("other.pem"), false), (server.authority, true),
        ] {
            let text = String(decoding: try Layout.read(authorities), as: UTF8.self)
            try scratch.write("ca.pem", text, mode: 0o644)
            #expect(try isTrusted(copied) == isGood)
        }
    }
}
