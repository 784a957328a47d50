// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import RelyingPartySupport
import TestSupport
import Testing

/// Real sudo with the real module, daemon, relay and server, and stock ssh-keygen for the receipt.
@Suite("sudo, if a server has to approve too", .timeLimit(.minutes(5)))
struct ServerLoginTests {
    private let signet: SignetFixture
    private let server: LiveServer
    private let relay: Relay
    private var host: HostFixture { signet.host }

    private static let file = "/etc/signet/shop"

    init() async throws {
        server = try await LiveServer.start()
        signet = try SignetFixture(
            readers: [.text], options: "server=\(Self.file)", allowsOthers: true)
        relay = try Relay(signet, server)
        try signet.enroll(HostFixture.alice, as: Touch.alice, on: .text)
        try install()
        try register()
    }

    /// What the administrator of the machine installs, as the one of the server prints it.
    private func install(_ more: String = "") throws {
        let printed = try server.administer("application", "pam-file", "shop")
        try host.write(Self.file, "\(printed)\n\(more)\n")
    }

    private func register() throws {
        let answer = try touching(
            .serverEnable(
                ServerEnableRequest(
                    account: "alice", server: ServerURL(server.url),
                    code: Bytes(try server.code().utf8))))
        guard case .serverEnabled = answer else {
            throw TestFault.closed(awaited: "a registration", transcript: "\(answer)")
        }
    }

    private func touching(_ request: Request) throws -> Answer {
        try signet.ask(request) { notice in
            if notice.kind == .touch { try signet.touch(Touch.alice, on: .text) }
        }
    }

    private func sudo(_ arguments: String...) throws -> Terminal {
        try host.terminal(["sudo", "-k"] + arguments, as: HostFixture.alice)
    }

    /// Whether sudo lets alice in by a touch.
    private func letsIn() throws {
        let terminal = try sudo("id", "-un")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    /// What is shown where sudo goes on to the password; no touch is asked for.
    private func password(after text: String) throws {
        let terminal = try sudo("id", "-un")
        try terminal.expect(text)
        try terminal.expect("[sudo] password for alice: ")
        #expect(!terminal.transcript.contains(SignetFixture.invitation))
        try terminal.sendLine(HostFixture.alice.password)
        try terminal.expect("root\r\n")
        #expect(try terminal.expectEnd() == .exited(0))
    }

    @Test("succeeds by alice's touch and the server's approval, which the receipt records")
    func accepted() throws {
        try letsIn()
        let log = try host.run(
            [try Built.program("signet"), "log"], as: HostFixture.alice)
        #expect(log.output.contains("fingerprint, asked \(server.url) as alice"), "\(log)")
        let checked = try host.run(
            [try Built.program("signet"), "log", "--verify"], as: HostFixture.alice)
        #expect(checked.succeeded, "\(checked)")
        let number = log.output.split(separator: "\n").last.map { line in
            line.drop { $0 != "#" }.dropFirst().prefix { $0.isNumber }
        }
        let exported = try host.run(
            [
                "/bin/sh", "-c",
                """
                cd && \(try Built.program("signet")) log --export \(number ?? "") --to r && cd r && \
                ssh-keygen -Y verify -f signers -I alice -n login@signet -s statement.sig <statement
                """,
            ], as: HostFixture.alice)
        #expect(exported.output.contains("Good \"login@signet\" signature"), "\(exported)")
    }

    @Test("refuses a server whose key is not the pinned one, and accepts the password")
    func otherKey() async throws {
        let other = try await LiveServer.start()
        let foreign = try other.administer("application", "pam-file", "shop")
        let key = foreign.split(separator: "\n").first { $0.hasPrefix("key = ") }
        let own = try server.administer("application", "pam-file", "shop")
            .split(separator: "\n").filter { !$0.hasPrefix("key = ") }
        try host.write(
            Self.file, (own + [try #require(key)]).joined(separator: "\n") + "\n")
        let terminal = try sudo("id", "-un")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("answer was rejected as invalid")
        try terminal.expect("[sudo] password for alice: ")
        terminal.signal(SIGKILL)
        try host.journal.expect("an alert") {
            $0.priority == 1 && $0.message.contains("not signed with the server's key")
        }
    }

    @Test("falls back to the password, or to an earlier approval if allowed, without the server")
    func away() throws {
        try relay.cut()
        try password(after: "the request to the server failed: ")
        try install("offline = 1 hours")
        try password(after: "no earlier approval is valid")
        try relay.start()
        try letsIn()
        try relay.stop()
        // A relay that is not there is no server that is away.
        try password(after: "the request to the server failed: signet-relay is not running")
        try relay.cut()
        try letsIn()
        let log = try host.run([try Built.program("signet"), "log"], as: HostFixture.alice)
        #expect(log.output.contains("not asked: \(server.url) (as alice)"), "\(log)")
        try install()
        try password(after: "the request to the server failed: ")
    }

    @Test("a block at the server ends it at once, also without the network afterwards")
    func blocked() throws {
        try install("offline = 720 hours")
        try letsIn()
        let registration = try #require(
            try server.registrations().first?["registration"] as? String)
        try server.ask("POST", "/v1/registrations/\(registration)/block", [:])
        let terminal = try sudo("id", "-un")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice, on: .text)
        try terminal.expect("is blocked. Ask the server's administrator")
        try terminal.expect("[sudo] password for alice: ")
        terminal.signal(SIGKILL)
        try relay.cut()
        try password(after: "no earlier approval is valid")
    }

    @Test("hands the token on as the file says, and by no environment to what sudo runs")
    func token() throws {
        try install("token = environment")
        let session = try host.terminal(
            ["su", "alice", "--command=env"], as: HostFixture.bob,
            in: .session(of: HostFixture.alice))
        try session.expect(SignetFixture.invitation)
        try signet.touch(Touch.alice, on: .text)
        _ = try session.expectEnd()
        #expect(session.transcript.contains("SIGNET_TOKEN=eyJ"))
        let terminal = try sudo("env")
        try terminal.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice, on: .text)
        #expect(try terminal.expectEnd() == .exited(0))
        #expect(!terminal.transcript.contains("SIGNET_TOKEN"))
        try install("token = file")
        let second = try sudo(
            "sh", "-c", "stat -c '%a %u' $SIGNET_TOKEN_FILE; cut -c-3 $SIGNET_TOKEN_FILE")
        try second.expect(SignetFixture.orPassword)
        try signet.touch(Touch.alice, on: .text)
        try second.expect("600 0\r\neyJ\r\n")
        #expect(!host.journal.entries.contains { $0.message.contains("eyJ") })
    }
}

/// The relay of a fixture: outside of it, where the server is.
private final class Relay {
    private let signet: SignetFixture
    private let scratch: Scratch
    private var program: TestSupport.Program?

    init(_ signet: SignetFixture, _ server: LiveServer) throws {
        self.signet = signet
        scratch = try Scratch()
        try scratch.write(
            "signet.conf", "[relay]\nca-file = \(server.authority)\ntimeout = 20s\n")
        try scratch.write("cut.conf", "[relay]\nproxy = http://127.0.0.1:1\n")
        try start()
    }

    deinit { try? stop() }

    /// Starts one that gets no connection to any server.
    func cut() throws { try start("cut.conf") }

    func start(_ configuration: String = "signet.conf") throws {
        try stop()
        let notices = try ReadinessNotices(at: scratch.at("notify"))
        let program = try TestSupport.Program(
            Command(
                [
                    try Built.program("signet-relay"), "--config", scratch.at(configuration),
                    "--socket", signet.host.path("/run/signet/relay.sock"),
                ], environment: ["NOTIFY_SOCKET": scratch.at("notify")]))
        guard notices.hearReady(within: .patience) else {
            throw TestFault.deadline(awaited: "signet-relay", transcript: program.errors)
        }
        self.program = program
    }

    func stop() throws {
        program?.signal(SIGTERM)
        try program?.expectEnd()
        program = nil
    }
}
