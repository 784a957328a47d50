// SPDX-License-Identifier: Apache-2.0
import ArgumentSyntax
import Crypto
import Domain
import Foundation
import JSONFormat
import ModuleOptions
import Posix
import SQL
import SQLSupport
import ServerAPI
import SignedFormats
import Synchronization
import TestSupport
import Testing

@testable import RelyingParty

@Suite("Administration")
struct AdministrationTests {
    @Test(
        "makes what a first registration needs, and shows each secret once",
        arguments: Backend.allCases)
    func first(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.administer(
            "application", "add", "bank", "--devices", "one", "--keys", "tpm")
        let key = try await server.administer("key", "add", "bank", "backend")
        let list = try await server.send(
            "GET", "/v1/accounts/alice/registrations", nil, key: key.first)
        #expect(list.status == 200)
        let code = try await server.administer("activation", "add", "bank", "alice")
        let device = try TestDevice()
        device.audience = "https://id.example.org/bank"
        let begun = try await server.send(
            "POST", "/v1/registrations",
            ["code": code[0], "device": hexadecimal(device.id)])
        device.registration = try begun.text("registration")
        #expect(try await server.prove(device, begun).status == 200)
        let shown = try await server.administer("registration", "show", device.registration)
        #expect(shown.contains("status        ACTIVE"))
        let secrets = [key[0], code[0]]
        for words in [["key", "list", "bank"], ["account", "list", "bank"], ["audit"]] {
            let text = try await server.administer(words).joined()
            for secret in secrets { #expect(!text.contains(secret)) }
        }
        // Nor does the database have them.
        let rows = try await server.rows("SELECT detail FROM audit")
        for row in rows {
            for secret in secrets { #expect(!(try row.text(0)).contains(secret)) }
        }
    }

    @Test(
        "changes a policy, all of it, and nothing that it was not asked to",
        arguments: Backend.allCases)
    func policy(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.administer(
            "application", "set", "shop", "--devices", "one", "--commit", "yes", "--biometrics",
            "no", "--keys", "tpm", "--secure-boot", "on", "--max-failures", "3",
            "--access-seconds", "60", "--refresh-seconds", "600")
        let wanted = ApplicationPolicy(
            severalDevices: false, commitRequired: true, biometrics: false, keys: .tpm,
            secureBoot: .on, maximumFailures: 3, accessSeconds: 60, refreshSeconds: 600)
        #expect(try await server.policy() == wanted)
        try await server.administer("application", "set", "shop", "--commit", "no")
        var other = wanted
        other.commitRequired = false
        #expect(try await server.policy() == other)
        for (option, value) in [
            ("--devices", "two"), ("--commit", "maybe"), ("--max-failures", "0"),
            ("--access-seconds", "29"), ("--refresh-seconds", "-1"), ("--keys", ""),
        ] {
            #expect(
                await server.fault("application", "set", "shop", option, value)?.status == 2)
        }
        #expect(await server.fault("application", "set", "shop")?.status == 2)
        #expect(await server.fault("application", "set", "none", "--commit", "no")?.status == 3)
        #expect(await server.fault("application", "add", "shop")?.status == 4)
        #expect(try await server.policy() == other)
    }

    @Test("gives applications and keys only names that read alike in URLs, paths and lists")
    func labels() async throws {
        let server = try await TestServer.make(.sqlite)
        for name in [
            "", "../x", ".", "..", ".hidden", "-x", "_x", "a/b", "a b", "a%2f", "bänk", "a\n",
            "a,b",
            String(repeating: "a", count: 65),
        ] {
            for words in [["application", "add"], ["key", "add", "shop"]] {
                #expect(await server.fault(words + ["--", name])?.status == 2, "\(words) \(name)")
            }
        }
        for name in ["Bank-2_eu.test", "7", String(repeating: "a", count: 64)] {
            try await server.administer("application", "add", name)
            try await server.administer("key", "add", name, name)
        }
    }

    @Test("prints the file that machines pin the server with", arguments: Backend.allCases)
    func loginFile(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let lines = try await server.administer("application", "pam-file", "shop")
        let file = try LoginServer(parsing: [UInt8](lines.joined(separator: "\n").utf8))
        #expect(file.url == "https://id.example.org")
        let audience = try await server.database.read { store throws(DatabaseFault) in
            try store.applications.application(name: "shop")?.audience
        }
        #expect(file.audience == Audience(try #require(audience)))
        // What it does not say is the strictest, and each line that it proposes is one.
        #expect(file.accounts.isEmpty && file.offlineHours == 0)
        #expect(file.token == nil && !file.mayDiffer)
        let proposed = lines.map { line in
            line.hasPrefix("# ") && line.contains(" = ") ? line.dropFirst(2) : line[...]
        }
        let all = try LoginServer(parsing: [UInt8](proposed.joined(separator: "\n").utf8))
        #expect(!all.accounts.isEmpty && all.offlineHours == 12)
        #expect(all.token != nil && all.mayDiffer)
        #expect(await server.fault("application", "pam-file", "none")?.status == 3)
    }

    @Test(
        "ends an API key at once, and never uses a name for a second key",
        arguments: Backend.allCases)
    func keys(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let key = try await server.administer("key", "add", "shop", "second")[0]
        #expect(try await server.statusOfList(key) == 200)
        try await server.administer("key", "revoke", "shop", "second")
        #expect(try await server.statusOfList(key) == 401)
        #expect(try await server.statusOfList(server.apiKey) == 200)
        #expect(await server.fault("key", "revoke", "shop", "second")?.status == 3)
        #expect(await server.fault("key", "add", "shop", "second")?.status == 4)
        #expect(await server.fault("key", "add", "none", "k")?.status == 3)
    }

    @Test(
        "removes an application with all that belongs to it, and nothing of another",
        arguments: Backend.allCases
    )
    func removedApplication(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let bank = try await server.makeApplication("bank")
        let (device, other) = (try TestDevice(), try TestDevice(id: 2))
        other.account = "bob"
        try await server.register(device)
        try await server.register(other)
        try await server.makeTemplate()
        #expect(try await server.logIn(device).status == 200)
        _ = try await server.operation()
        #expect(
            try await server.send("POST", "/v1/activations", ["account": "alice"], key: bank).status
                == 201)
        let lines = try await server.rows("SELECT id FROM audit").count
        #expect(await server.fault("application", "remove", "shop")?.status == 4)
        #expect(await server.fault("application", "remove", "none")?.status == 3)
        #expect(await server.fault("application", "remove", "shop", "--devices", "x")?.status == 2)
        #expect(try await server.logIn(device).status == 200)
        try await server.administer("registration", "remove", other.registration)
        #expect(await server.fault("application", "remove", "shop")?.status == 4)
        try await server.administer("application", "remove", "shop", "--devices", "remove")
        #expect(try await server.ask("POST", "/v1/activations", ["account": "alice"]).status == 401)
        let statement = device.answer(try fresh(), "login", at: server.time.now)
        let reply = try await server.send(
            "POST", "/v1/login", try device.signed(statement.encoded(), .login))
        #expect(reply.code == "refused")
        for table in [
            "SELECT 1 FROM registration", "SELECT 1 FROM token_session",
            "SELECT 1 FROM refresh_token", "SELECT 1 FROM operation", "SELECT 1 FROM template",
        ] as [StaticString] {
            #expect(try await server.rows(table).isEmpty, "\(table)")
        }
        #expect(try await server.rows("SELECT name FROM application") == [Row([.text("bank")])])
        #expect(try await server.rows("SELECT name FROM account").count == 1)
        #expect(try await server.rows("SELECT id FROM audit").count > lines)
        #expect(
            try await server.send("POST", "/v1/activations", ["account": "alice"], key: bank).status
                == 201)
        #expect(await server.fault("application", "remove", "shop")?.status == 3)
        try await server.administer("application", "remove", "bank")
    }

    @Test(
        "deletes old lines of the audit trail, and records the administrator",
        arguments: Backend.allCases)
    func pruned(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        server.time.pass(86_400 * 3)
        #expect(try await server.logIn(device).status == 200)
        for before in [nil, "1", "tomorrow", "2999-01-01"] as [String?] {
            let words = ["audit", "prune"] + (before.map { ["--before", $0] } ?? [])
            #expect(await server.fault(words)?.status == 2)
        }
        let all = try await server.rows("SELECT id FROM audit").count
        try await server.administer("audit", "prune", "--before", "4d")
        #expect(try await server.rows("SELECT id FROM audit").count == all + 1)
        try await server.administer("audit", "prune", "--before", "2d")
        let left = try await server.rows("SELECT event, outcome, detail FROM audit ORDER BY id")
        #expect(
            try left.map { row in try row.text(0) } == [
                "login", "administration", "administration",
            ])
        #expect(try left.last?.text(2).hasPrefix("audit prune --before ") == true)
        // Lines about earlier ones stay, also where the settings delete what is old.
        server.time.pass(86_400 * 9)
        try await server.administer("audit", "prune", "--before", "1d")
        let kept = try await server.rows("SELECT detail FROM audit")
        #expect(kept.count == 3)
        #expect(try kept.allSatisfy { try $0.text(0).hasPrefix("audit prune --before ") })
    }

    @Test("blocks accounts and devices, and lets them in again", arguments: Backend.allCases)
    func blocks(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let id = device.registration
        try await server.administer("account", "block", "shop", "alice")
        #expect(try await server.logIn(device).code == "key-blocked")
        try await server.administer("account", "unblock", "shop", "alice")
        #expect(try await server.logIn(device).status == 200)
        try await server.administer("registration", "block", id)
        #expect(try await server.logIn(device).code == "key-blocked")
        #expect(await server.fault("registration", "block", id)?.status == 4)
        try await server.administer("registration", "unblock", id)
        #expect(try await server.logIn(device).status == 200)
        try await server.administer("registration", "remove", id)
        #expect(try await server.logIn(device).code == "key-removed")
        #expect(await server.fault("registration", "unblock", id)?.status == 4)
        let live = try await server.rows("SELECT id FROM token_session WHERE revoked IS NULL")
        #expect(live.isEmpty)
        let listed = try await server.administer("registration", "list", "shop")
        #expect(listed.count == 2 && listed[1].contains("REMOVED"))
        #expect(
            try await server.administer(
                "registration", "list", "shop", "--status", "active") == ["none"])
        let other = String(repeating: "0", count: 32)
        #expect(await server.fault("registration", "show", other)?.status == 3)
        #expect(await server.fault("registration", "show", "1 OR 1=1")?.status == 2)
        #expect(await server.fault("account", "block", "shop", "bob")?.status == 3)
    }

    @Test(
        "commits a registration by the fingerprint that a person has compared",
        arguments: Backend.allCases)
    func commit(backend: Backend) async throws {
        let server = try await TestServer.make(
            backend, policy: ApplicationPolicy(commitRequired: true))
        let device = try TestDevice()
        let proven = try await server.prove(device, try await server.begin(device))
        let fingerprint = try proven.text("fingerprint")
        let id = device.registration
        #expect(await server.fault("registration", "commit", id, "SHA256:other")?.status == 4)
        try await server.administer("registration", "commit", id, fingerprint)
        #expect(try await server.logIn(device).status == 200)
        #expect(await server.fault("registration", "commit", id, fingerprint)?.status == 4)
    }

    @Test("gives accounts flags and roles, which tokens then say", arguments: Backend.allCases)
    func roles(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        try await server.administer("account", "set", "shop", "alice", "--roles", "admin,staff")
        try await server.administer("account", "set", "shop", "alice", "--flags", "vip")
        let reply = try await server.logIn(device)
        #expect(reply["roles"] as? [String] == ["admin", "staff"])
        #expect(reply["flags"] as? [String] == ["vip"])
        for words in ["a b", "a,a", "\u{e9}", "a\nb"] {
            let fault = await server.fault("account", "set", "shop", "alice", "--roles", words)
            #expect(fault?.status == 2, "\(words)")
        }
        try await server.administer("account", "set", "shop", "alice", "--roles", "")
        #expect(try await server.logIn(device)["roles"] as? [String] == [])
    }

    @Test(
        "gives registrations flags, which answers and tokens then say", arguments: Backend.allCases)
    func registrationFlags(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        let device = try TestDevice()
        try await server.register(device)
        let id = device.registration
        try await server.administer("account", "set", "shop", "alice", "--flags", "vip")
        try await server.administer("registration", "set", id, "--flags", "office,shared")
        let state = try await server.ask("GET", "/v1/registrations/\(id)")
        #expect(state["flags"] as? [String] == ["office", "shared"])
        let reply = try await server.logIn(device)
        #expect(reply["flags"] as? [String] == ["vip", "office", "shared"])
        let tokens = try #require(reply["tokens"] as? [String: Any])
        let access = try #require(tokens["accessToken"] as? String)
        let payload = try JSONWebToken.verify(
            [UInt8](access.utf8), keys: server.service.keys.verifying)
        #expect(
            try JSON.decode(AccessClaims.self, from: payload).flags == ["vip", "office", "shared"])
        let lines = try await server.administer("audit", "--event", "administration")
        #expect(lines.last?.contains(id) == true)
        #expect(lines.last?.contains("registration set --flags office,shared") == true)
        for words in ["a b", "a,a", "\u{e9}", "a\nb"] {
            let fault = await server.fault("registration", "set", id, "--flags", words)
            #expect(fault?.status == 2, "\(words)")
        }
        #expect(await server.fault("registration", "set", id)?.status == 2)
        let other = String(repeating: "0", count: 32)
        #expect(await server.fault("registration", "set", other, "--flags", "a")?.status == 3)
        try await server.administer("registration", "set", id, "--flags", "")
        #expect(try await server.logIn(device)["flags"] as? [String] == ["vip"])
    }

    @Test("lists accounts in pages", arguments: Backend.allCases)
    func pages(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        for name in ["a", "b", "c"] {
            try await server.administer("activation", "add", "shop", name)
        }
        let page = try await server.administer(
            "account", "list", "shop", "--after", "a", "--limit", "1", "--json")
        #expect(page == [#"[{"blocked":false,"flags":[],"name":"b","roles":[]}]"#])
        #expect(await server.fault("account", "list", "shop", "--limit", "0")?.status == 2)
    }

    @Test("is in the audit trail, also where it was refused", arguments: Backend.allCases)
    func audited(backend: Backend) async throws {
        let server = try await TestServer.make(backend)
        try await server.administer("key", "add", "shop", "second")
        _ = await server.fault("key", "add", "shop", "second")
        _ = await server.fault("account", "block", "shop", "bo\nb")
        let lines = try await server.administer("audit", "--event", "administration")
        #expect(lines.count == 4)
        #expect(lines[1].contains("  ok ") && lines[1].contains("key add second"))
        #expect(lines[2].contains("  conflict "))
        #expect(lines[3].contains("  not-found ") && lines[3].contains("tester"))
        let others = ["--application", "other"], later = ["--since", "2100-01-01"]
        for filter in [others, later, ["--account", "nobody"], ["--event", "login"]] {
            #expect(try await server.administer(["audit"] + filter) == ["none"])
        }
        #expect(try await server.administer("audit", "--since", "1h", "--limit", "2").count == 3)
        #expect(await server.fault("audit", "--since", "yesterday")?.status == 2)
        #expect(await server.fault("audit", "--event", "anything")?.status == 2)
    }

    @Test("requires an existing command, with its own operands and options")
    func usage() throws {
        for words in [
            [], ["application"], ["application", "drop", "x"], ["application", "list", "x"],
            ["application", "add"], ["application", "list", "--audience", "x"],
            ["account", "list", "shop", "--limit"],
            ["account", "list", "shop", "--limit", "1", "--limit", "2"], ["--json"],
            ["audit", "--config", "server.conf"], ["audit", "--config", ""],
        ] {
            #expect(throws: AdminFault.self, "\(words)") { try AdminCommandLine(words) }
        }
        #expect(try AdminCommandLine(["audit", "--help"]) == nil)
        for words in [
            ["audit", "--limit", "0"], ["audit", "--limit", "x"], ["signing-key", "rotate", "all"],
            ["application", "set", "shop", "--devices", "none"],
            ["activation", "add", "shop", "alice", "--minutes", "1441"],
        ] {
            #expect(throws: AdminFault.self, "\(words)") { try AdminCommandLine(words) }
        }
        let line = try #require(try AdminCommandLine(["--config", "/x", "audit", "--json"]))
        #expect(line.configuration == "/x" && line.isJSON && line.verb.name == "audit")
    }
}

extension AdminCommandLine {
    /// What follows `admin`; nil for help.
    init?(_ words: [String]) throws(AdminFault) {
        do throws(UsageFault) {
            guard case .run(let arguments) = try ServerCommand.syntax.read(["admin"] + words) else {
                return nil
            }
            self.init(arguments)
        } catch { throw .usage(error.english) }
    }
}

extension TestServer {
    /// Does what an administrator types; gives the lines of standard output.
    @discardableResult
    func administer(_ words: String...) async throws -> [String] { try await administer(words) }

    @discardableResult
    func administer(_ words: [String]) async throws -> [String] {
        let lines = OutputLines()
        guard let line = try AdminCommandLine(words), case .database(let work) = line.verb.work
        else { throw Unexpected("help, or no work of the database") }
        let output = AdminOutput(isJSON: line.isJSON) { lines.add($0) }
        try await work(Administration(service, output: output, by: "tester"), line.arguments)
        return lines.all
    }

    /// Why a command is refused; nil where it is not.
    func fault(_ words: String...) async -> AdminFault? { await fault(words) }

    func fault(_ words: [String]) async -> AdminFault? {
        do {
            _ = try await administer(words)
            return nil
        } catch { return error as? AdminFault }
    }

    fileprivate func policy() async throws -> ApplicationPolicy? {
        try await database.read { store throws(DatabaseFault) in
            try store.applications.application(name: "shop")?.policy
        }
    }

    fileprivate func statusOfList(_ key: String) async throws -> Int {
        try await send("GET", "/v1/accounts/alice/registrations", nil, key: key).status
    }
}

/// Lines that were written.
private final class OutputLines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
