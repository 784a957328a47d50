// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

/// A daemon, its relay, and the real server that both know.
final class ServerBench {
    let bench: DaemonBench
    let server: LiveServer
    /// What verdicts are signed with.
    private(set) lazy var verdictKey = (try? makeVerdictKey()) ?? []
    private(set) var relay: TestSupport.Program

    /// With a finger of `daemon`'s enrolled, `one`.
    init(_ server: LiveServer, configuration more: String = "") throws {
        self.server = server
        let configuration = "[relay]\nca-file = \(server.authority)\ntimeout = 20s\n" + more
        bench = try DaemonBench([.text], configuration: configuration)
        try bench.enrol(.daemon, as: "one")
        relay = try Self.relay(of: bench)
    }

    deinit {
        relay.signal(SIGTERM)
        _ = try? relay.expectEnd()
    }

    /// Ends the relay; `startRelay` starts one again.
    func stopRelay() throws {
        relay.signal(SIGTERM)
        try relay.expectEnd()
    }

    func startRelay() throws { relay = try Self.relay(of: bench) }

    /// Cuts the way to the server: the relay is there, and gets no connection. `joinNetwork` ends it.
    func cutNetwork() throws {
        try stopRelay()
        let configuration = bench.directory + "/cut.conf"
        try DaemonBench.write("[relay]\nproxy = http://127.0.0.1:1\n", to: configuration)
        relay = try Self.relay(of: bench, configuration)
    }

    func joinNetwork() throws {
        try stopRelay()
        try startRelay()
    }

    var url: Bytes { Bytes(server.url.utf8) }

    /// Registers the device for somebody, as whom the server knows `alice`.
    @discardableResult
    func enable(
        _ person: Person = .daemon, with finger: String = "one", code: String? = nil
    ) throws -> Answer {
        let code = try code ?? server.code()
        return try bench.touchEach(
            .serverEnable(
                ServerEnableRequest(
                    account: person.bytes, server: url, code: Bytes(code.utf8))), with: finger)
    }

    func login(_ person: Person = .daemon) -> Request {
        .serverLogin(account: person.bytes, server: url, timeoutMilliseconds: 20_000)
    }

    /// Logs in as somebody, with a finger.
    func logIn(_ person: Person = .daemon, with finger: String = "one") throws -> Answer {
        try bench.touchEach(login(person), with: finger, client: bench.client(person))
    }

    /// What is kept of servers for somebody.
    func list(_ person: Person = .daemon) throws -> [ServerAnswer] {
        let client = try bench.client()
        try client.send(.serverList(account: person.bytes))
        return try client.rest().compactMap { answer in
            if case .server(let server) = answer { server } else { nil }
        }
    }

    func files(of person: Person = .daemon) -> [String] {
        Layout.entries(of: bench.file("servers", of: person))
    }

    /// Starts a relay where a bench's daemon asks.
    static func relay(
        of bench: DaemonBench, _ configuration: String? = nil
    ) throws -> TestSupport.Program {
        let notices = try ReadinessNotices(at: bench.directory + "/relay-notify")
        let program = try TestSupport.Program(
            Command(
                [
                    Layout.products + "/signet-relay", "--config",
                    configuration ?? bench.configuration,
                    "--socket", bench.directory + "/relay",
                ], environment: ["NOTIFY_SOCKET": bench.directory + "/relay-notify"]))
        guard notices.hearReady(within: .seconds(20)) else {
            throw TestFault.deadline(awaited: "signet-relay", transcript: program.errors)
        }
        return program
    }
}

extension Answer {
    var token: TokenAnswer? { if case .token(let token) = self { token } else { nil } }
    var enabled: ServerEnabledAnswer? {
        if case .serverEnabled(let enabled) = self { enabled } else { nil }
    }
}

extension ServerBench {
    /// The key that a PAM line's file would pin, as the server prints that file.
    func makeVerdictKey() throws -> Bytes {
        let file = try server.administer("application", "pam-file", "shop")
        let line = try #require(file.split(separator: "\n").first { $0.hasPrefix("key = ") })
        let text = try #require(line.split(separator: " ").last)
        let blob = try #require(Base64.decode(Bytes(text.utf8), .standard))
        return try SSHPublicKey(blob: blob).point
    }
}
