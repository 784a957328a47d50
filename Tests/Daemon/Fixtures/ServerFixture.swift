// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

/// A daemon, its relay, and the real server that both know.
final class ServerFixture {
    let daemon: DaemonFixture
    let server: LiveServer
    /// What verdicts are signed with.
    private(set) lazy var verdictKey = (try? makeVerdictKey()) ?? .zero
    private(set) var relay: TestSupport.Program

    /// Files that the daemon reads.
    private let scratch: Scratch?

    /// With a finger of `daemon`'s enrolled, `one`, and with passwords in shadow(5), if wanted;
    /// `scratch` has files that `arguments` name.
    init(
        _ server: LiveServer, configuration more: String = "", arguments: [String] = [],
        keeping scratch: Scratch? = nil, shadow: Bool = false
    ) throws {
        self.server = server
        self.scratch = scratch
        let configuration = "[relay]\nca-file = \(server.authority)\ntimeout = 20s\n" + more
        daemon =
            shadow
            ? try DaemonFixture.withShadow([.text], configuration: configuration)
            : try DaemonFixture([.text], configuration: configuration, arguments: arguments)
        try daemon.enrol(.daemon, as: "one")
        relay = try Self.relay(of: daemon)
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

    func startRelay() throws { relay = try Self.relay(of: daemon) }

    /// Cuts the way to the server: the relay is there, and gets no connection. `joinNetwork` ends it.
    func cutNetwork() throws {
        try stopRelay()
        let configuration = daemon.directory + "/cut.conf"
        try DaemonFixture.write("[relay]\nproxy = http://127.0.0.1:1\n", to: configuration)
        relay = try Self.relay(of: daemon, configuration)
    }

    func joinNetwork() throws {
        try stopRelay()
        try startRelay()
    }

    var url: ServerURL { ServerURL(server.url) }

    /// Registers the device for a person, whom the server knows as `alice`.
    @discardableResult
    func enable(
        _ person: Person = .daemon, with finger: String = "one", code: String? = nil
    ) throws -> Answer {
        let code = try code ?? server.code()
        return try daemon.touchEach(
            .serverEnable(
                ServerEnableRequest(
                    account: person.account, server: url, code: Bytes(code.utf8))), with: finger)
    }

    func login(_ person: Person = .daemon) -> Request {
        .serverLogin(account: person.account, server: url, timeoutMilliseconds: 20_000)
    }

    /// Logs in as a person, with a finger.
    func logIn(_ person: Person = .daemon, with finger: String = "one") throws -> Answer {
        try daemon.touchEach(login(person), with: finger, client: daemon.client(person))
    }

    /// What is kept of servers for a person.
    func list(_ person: Person = .daemon) throws -> [ServerAnswer] {
        let client = try daemon.client()
        try client.send(.serverList(account: person.account))
        return try client.rest().compactMap { answer in
            if case .server(let server) = answer { server } else { nil }
        }
    }

    func files(of person: Person = .daemon) -> [String] {
        Layout.entries(of: daemon.file("servers", of: person))
    }

    /// Starts a relay where a daemon's daemon asks.
    static func relay(
        of daemon: DaemonFixture, _ configuration: String? = nil
    ) throws -> TestSupport.Program {
        let notices = try ReadinessNotices(at: daemon.directory + "/relay-notify")
        let program = try TestSupport.Program(
            Command(
                [
                    Layout.products + "/signet-relay", "--config",
                    configuration ?? daemon.configuration,
                    "--socket", daemon.directory + "/relay",
                ], environment: ["NOTIFY_SOCKET": daemon.directory + "/relay-notify"]))
        guard notices.hearReady(within: .patience) else {
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

extension ServerFixture {
    /// The key that a PAM line's file would pin, as the server prints that file.
    func makeVerdictKey() throws -> PublicKeyPoint {
        let file = try server.administer("application", "pam-file", "shop")
        let line = try #require(file.split(separator: "\n").first { $0.hasPrefix("key = ") })
        let text = try #require(line.split(separator: " ").last)
        let blob = try #require(Base64.decode(Bytes(text.utf8), alphabet: .standard))
        return try SSHPublicKey(blob: blob).point
    }
}
