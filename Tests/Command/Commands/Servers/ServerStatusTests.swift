// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Doctor
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

private let key =
    "AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBBtzqt6Y9Rig+def9i7tL8VFKsZhCCAac3RA"
    + "IU9QiQtXf7zJa6lqQ9IcSoiql9Lj5ML+t/ffxB/9XDx0qcJ20Bc="

/// A machine with these lines of the module by service, and the file of a server.
private struct Stacks {
    let services: [String: String]
    /// The file's further lines.
    var file = ""
    var servers: [ServerAnswer] = [sampleServer]

    static let plain = "auth sufficient pam_signet.so\n"
    static let asking = "auth sufficient pam_signet.so server=/etc/signet/shop\n"

    init(_ services: [String: String]) { self.services = services }

    func status(_ words: String...) throws -> Run {
        let scratch = try Scratch()
        try scratch.write(Scratch.module, "", mode: 0o644)
        for (service, line) in services {
            try scratch.write("etc/pam.d/\(service)", line, mode: 0o644)
        }
        try scratch.write(
            "etc/signet/shop",
            """
            url = https://id.example
            audience = shop
            key = ecdsa-sha2-nistp256 \(key)
            \(file)

            """, mode: 0o644)
        let parts: [Answer] = servers.map { .server($0) }
        let scripts = [answering(parts + [.reader(sampleReader), .status(sampleStatus)])]
        return try signet(["status", "--account", "alice"] + words, scripts, in: scratch) {
            $0.machine.files.root = scratch.path
            $0.machine.uid = 1_000
            $0.machine.nameService.isMember = { name, group throws(SystemFault) in
                if group == "unanswered" { throw SystemFault("getgrnam_r", on: group, code: 5) }
                return name == "alice" && group == "staff"
            }
        }
    }
}

@Suite("signet status, if a server has to approve logins")
struct ServerStatusTests {
    private static let unregistered = """
        login, sudo: no touch is accepted, because https://id.example must approve it, and alice \
        is not registered there. Run 'signet enable --server https://id.example' with an \
        activation code

        """

    private func with(_ state: ServerKeyState, at url: String = "https://id.example")
        -> ServerAnswer
    {
        var server = sampleServer
        server.state = state
        server.server = ServerURL(url)
        return server
    }

    private func obstacles(_ run: Run) throws -> [String] {
        try run.document("status")["obstacles"] as? [String] ?? ["none told"]
    }

    @Test("works for an account that is registered there, or that the file is not for")
    func works() throws {
        var stacks = Stacks(["sudo": Stacks.asking, "login": Stacks.asking])
        #expect(try stacks.status().code == .done)
        stacks.servers = []
        for accounts in ["bob", "@wheel bob", "@unanswered"] {
            stacks.file = "accounts = \(accounts)"
            let run = try stacks.status()
            #expect(run.code == .done && !run.output.contains("no touch is accepted"))
        }
    }

    @Test("works where one line of a service asks a server that it is registered at")
    func anotherLine() throws {
        let old = "auth sufficient pam_signet.so server=/etc/signet/old\n"
        let stacks = Stacks(["login": old + Stacks.asking])
        let run = try stacks.status()
        #expect(run.code == .done && run.output.contains("login: no touch is accepted"))
        let alone = try Stacks(["login": old]).status("--json")
        #expect(try obstacles(alone) == ["server-file"])
    }

    @Test("says that the account is not registered, and ends with 1 if no other login works")
    func notRegistered() throws {
        var stacks = Stacks(["sudo": Stacks.asking, "login": Stacks.asking])
        let others = [[], [with(.good, at: "https://other.example")], [with(.removing)]]
        for accounts in ["", "accounts = bob alice", "accounts = @staff"] {
            stacks.file = accounts
            for servers in others {
                stacks.servers = servers
                let run = try stacks.status()
                #expect(run.code == .denied && run.errors == "")
                #expect(run.output.contains(Self.unregistered), "\(run.output)")
                #expect(
                    run.output.hasSuffix(
                        """
                        does not work for alice now. The password works
                        next, run: signet enable --server https://id.example --account alice

                        """), "\(run.output)")
            }
        }
        let json = try stacks.status("--json")
        #expect(try obstacles(json) == ["not-registered"])
        let document = try json.document("status")
        #expect(document["works"] as? Bool == false)
        let troubles = document["serverTroubles"] as? [[String: Any]]
        #expect(troubles?.map { $0["trouble"] as? String } == ["not-registered"])
        #expect(troubles?[0]["services"] as? [String] == ["login", "sudo"])
        #expect(troubles?[0]["server"] as? String == "https://id.example")
        #expect(troubles?[0]["file"] as? String == "/etc/signet/shop")
    }

    @Test("says that the fingers have changed since, unless another registration is good")
    func ended() throws {
        var stacks = Stacks(["sudo": Stacks.asking])
        stacks.servers = [with(.invalidated)]
        let run = try stacks.status()
        #expect(run.code == .denied)
        #expect(
            run.output.contains(
                "sudo: no touch is accepted, because https://id.example must approve it, and the "
                    + "fingers have changed since alice was registered there"))
        #expect(try obstacles(try stacks.status("--json")) == ["registration-ended"])
        stacks.servers = [with(.invalidated), with(.good)]
        #expect(try stacks.status().code == .done)
    }

    @Test("says that its file has a mistake or is missing, for every account")
    func file() throws {
        var stacks = Stacks(["sudo": Stacks.asking])
        stacks.file = "offline = perhaps"
        let run = try stacks.status()
        #expect(run.code == .denied)
        #expect(run.output.contains("or is missing: /etc/signet/shop:4. Run 'signet doctor'"))
        #expect(try obstacles(try stacks.status("--json")) == ["server-file"])
        let missing = Stacks(["sudo": "auth sufficient pam_signet.so server=/etc/none\n"])
        #expect(try missing.status().output.contains("is missing: /etc/none. Run"))
    }

    @Test("says so and ends with 0 if a service is left that asks no server")
    func others() throws {
        for services in [
            ["sudo": Stacks.plain, "login": Stacks.asking],
            ["login": Stacks.asking + Stacks.plain],
        ] {
            var stacks = Stacks(services)
            stacks.servers = []
            let run = try stacks.status()
            #expect(run.code == .done)
            #expect(run.output.contains("login: no touch is accepted, because"))
            #expect(run.output.hasSuffix("fingerprint login works for alice\n"))
            let document = try stacks.status("--json").document("status")
            #expect((document["obstacles"] as? [String])?.isEmpty == true)
            #expect((document["serverTroubles"] as? [Any])?.count == 1)
        }
    }
}
