// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import LoginProtocol
import Posix
import SSHProtocol
import SignedFormats
import Synchronization
import TestSupport
import Testing

private let alice: AccountName = "alice"

private func key(
    _ name: String, state: SSHKeyState = .good, id: UInt8 = 1
) -> SSHKeyContent {
    SSHKeyContent(
        since: 1_795_195_440, vault: Bytes("file".utf8), publicKey: SSHData.key.key.point,
        application: .standard,
        handle: SSHKeyHandle(device: .sample(0..<16), uid: 1000, key: .sample(repeating: id)),
        name: known(SSHKeyName(Bytes(name.utf8))), state: state)
}

private func listed(_ keys: SSHKeyContent..., count: UInt32? = nil) -> [DaemonStep] {
    [.receive] + keys.map { .send(.of(SSHKeyAnswer($0))) }
        + [.send(.of(SSHKeyCountAnswer(count: count ?? UInt32(keys.count))))]
}

private func agentKey(_ name: String, id: UInt8 = 3) -> SSHAgentKeyContent {
    SSHAgentKeyContent(
        since: 1_795_195_440, vault: Bytes("file".utf8), publicKey: SSHData.key.key.point,
        identifier: .sample(repeating: id), name: known(SSHKeyName(Bytes(name.utf8))),
        state: .good)
}

private func agentListed(_ keys: SSHAgentKeyContent..., count: UInt32? = nil) -> [DaemonStep] {
    [.receive] + keys.map { .send(.of(SSHAgentKeyAnswer($0))) }
        + [.send(.of(SSHKeyCountAnswer(count: count ?? UInt32(keys.count))))]
}

private func ssh(_ words: String..., scripts: [[DaemonStep]] = []) throws -> Run {
    try signet(["ssh"] + words + ["--account", "alice"], scripts)
}

@Suite("signet ssh")
struct SSHCommandTests {
    @Test("lists the keys with their fingerprints, and says what a destroyed one needs")
    func list() throws {
        let run = try ssh(
            "list",
            scripts: [
                listed(key("work"), key("old", state: .invalidated, id: 2)), agentListed(),
            ])
        #expect(run.code == .done && run.errors == "", "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 4, "\(run.output)")
        #expect(lines[1].hasPrefix("work") && lines[1].contains("good"))
        #expect(lines[1].contains("SHA256:") && lines[1].contains("ssh:"))
        #expect(lines[2].hasPrefix("old") && lines[2].contains("destroyed"))
        #expect(lines[3].contains("signet ssh remove NAME"))
        #expect(run.requests == [.sshList(account: alice), .sshAgentList(account: alice)])
    }

    @Test("says that there are none, and in JSON lists them all")
    func forms() throws {
        let none = try ssh("list", scripts: [listed(), agentListed()])
        #expect(none.output == "alice has no ssh keys. Run 'signet ssh new' to make one\n")
        let run = try signet(
            ["ssh", "list", "--account", "alice", "--json"],
            [listed(key("a"), key("b", id: 2)), agentListed(agentKey("c"))])
        let keys = try #require(try run.document("ssh-keys")["keys"] as? [[String: Any]])
        #expect(keys.map { $0["name"] as? String } == ["a", "b", "c"])
        #expect(keys.map { $0["agent"] as? Bool } == [false, false, true])
        #expect(keys[0]["state"] as? String == "good")
    }

    @Test("prints a key's line as ssh-keygen writes it")
    func publicKey() throws {
        let run = try ssh(
            "public", "work", scripts: [listed(key("other", id: 2), key("work")), agentListed()])
        let blob = Base64.encode(SSHData.key.blob, alphabet: .standard)
        let line = "sk-ecdsa-sha2-nistp256@openssh.com " + String(decoding: blob, as: UTF8.self)
        #expect(run.output == line + " work\n")
        let unknown = try ssh("public", "work", scripts: [listed(key("other")), agentListed()])
        #expect(
            unknown.code == .denied && unknown.errors.contains("there is no ssh key work"))
    }

    @Test("removes the key of that name, by its id")
    func remove() throws {
        let run = try ssh(
            "remove", "work",
            scripts: [
                listed(key("other", id: 2), key("work", id: 7)), agentListed(),
                [.receive, .send(.done(DoneAnswer()))],
            ])
        #expect(run.code == .done && run.output.contains("the ssh key work is destroyed"))
        #expect(run.requests.last == .sshRemove(account: alice, key: .sample(repeating: 7)))
    }

    @Test("shows, prints and removes a key of the agent by its name, too")
    func agentKeys() throws {
        let scripts = [listed(key("work")), agentListed(agentKey("plain", id: 9))]
        let list = try ssh("list", scripts: scripts)
        let lines = list.output.split(separator: "\n")
        #expect(lines.count == 3 && lines[2].hasPrefix("plain"), "\(list.output)")
        #expect(lines[2].contains("signet-agent"))
        let shown = try ssh("public", "plain", scripts: scripts)
        #expect(shown.output == Self.plainLine + " plain\n")
        let removed = try ssh(
            "remove", "plain", scripts: scripts + [[.receive, .send(.done(DoneAnswer()))]])
        #expect(removed.code == .done)
        #expect(removed.requests.last == .sshRemove(account: alice, key: .sample(repeating: 9)))
    }

    private static let plainLine =
        "ecdsa-sha2-nistp256 "
        + String(
            decoding: Base64.encode(SSHData.key.key.blob, alphabet: .standard), as: UTF8.self)

    @Test("makes a key for the agent by a touch, and prints its line")
    func newForAgent() throws {
        let run = try signet(
            ["ssh", "new", "--agent", "plain"],
            [
                [
                    .receive, .send(.notice(Notice(.touch, scan: .press))),
                    .send(.of(SSHAgentKeyMadeAnswer(agentKey("plain")))),
                ]
            ]
        ) { $0.uid = 1 }
        #expect(run.code == .done, "\(run.errors)")
        #expect(run.output.contains(Self.plainLine + " plain\n"), "\(run.output)")
        #expect(run.output.contains("SSH_AUTH_SOCK"))
        let denied = try signet(
            ["ssh", "new", "--agent"], [[.receive, .send(.denial(Denial(.noMatch)))]]
        ) { $0.uid = 1 }
        #expect(denied.code == .denied && denied.output.isEmpty)
        for words in [
            ["list", "--agent"], ["public", "a", "--agent"], ["new", "--agent", "a/b"],
        ] {
            #expect(try signet(["ssh"] + words).code == .usage)
        }
    }

    @Test("takes no list that is not what the daemon counted, and no key of another kind")
    func miscounted() throws {
        for script in [listed(key("a"), count: 2), [.receive, .send(.done(DoneAnswer()))]] {
            #expect(try ssh("list", scripts: [script]).code == .fault)
        }
        let more = try ssh("list", scripts: [listed(), agentListed(agentKey("a"), count: 0)])
        #expect(more.code == .fault)
    }

    @Test(
        "refuses words and names that mean nothing, and asks no daemon",
        arguments: [
            [], ["make"], ["list", "a"], ["public"], ["remove"], ["new", "a", "b"], ["new", "-x"],
            ["new", "a/b"], ["new", ".x"], ["public", "a b"], ["new", "é"],
        ])
    func misuse(words: [String]) throws {
        #expect(try signet(["ssh"] + words).code == .usage)
    }

    /// The programs that were run, and how they ended.
    private func making(
        _ words: [String], status: Int32? = 0, there: Set<String> = ["/p/libsk.so", "/k"]
    ) throws -> (run: Run, calls: [[String]]) {
        let calls = Calls()
        let run = try signet(["ssh", "new"] + words) { environment in
            environment.sshProviders = ["/q/libsk.so", "/p/libsk.so"]
            environment.sshKeygen = "/k"
            environment.isThere = { there.contains($0) }
            environment.runProgram = { (path, arguments) throws(SystemFault) in
                calls.all.withLock { $0.append([path] + arguments) }
                return status
            }
        }
        return (run, calls.all.withLock { $0 })
    }

    private final class Calls: Sendable {
        let all = Mutex<[[String]]>([])
    }

    @Test("has ssh-keygen make a key with the provider that is installed, in a file of its name")
    func new() throws {
        let home = try #require(try Account.with(uid: effectiveUID())).home
        let (plain, calls) = try making([])
        #expect(plain.code == .done && plain.output.contains("SecurityKeyProvider /p/libsk.so"))
        #expect(
            calls == [
                [
                    "/k", "-q", "-t", "ecdsa-sk", "-w", "/p/libsk.so", "-f",
                    home + "/.ssh/id_ecdsa_sk", "-N", "",
                ]
            ])
        let (_, named) = try making(["work"])
        #expect(named[0].suffix(2) == ["-O", "user=work"])
        #expect(named[0].contains(home + "/.ssh/id_ecdsa_sk_work"))
    }

    @Test("makes none without provider or OpenSSH, nor over a file, and passes a failure on")
    func notMade() throws {
        let home = try #require(try Account.with(uid: effectiveUID())).home
        for there in [
            ["/k"], ["/p/libsk.so"], ["/k", "/p/libsk.so", home + "/.ssh/id_ecdsa_sk"],
            ["/k", "/p/libsk.so", home + "/.ssh/id_ecdsa_sk.pub"],
        ] {
            let (run, calls) = try making([], there: Set(there))
            #expect(run.code == .denied && calls.isEmpty, "\(there)")
        }
        #expect(try making([], status: 1).run.code == .denied)
        #expect(try making([], status: nil).run.code == .interrupted)
    }

    /// A run of `signet ssh allow`, with the words that its command was run with.
    private func allowing(
        _ words: [String], _ answers: [DaemonStep], status: Int32? = 0
    ) throws -> (run: Run, calls: [[String]]) {
        let calls = Calls()
        let run = try signet(
            ["ssh", "allow"] + words, [listed(key("work")), agentListed(), answers]
        ) {
            environment in
            environment.uid = 1
            environment.runProgram = { (path, arguments) throws(SystemFault) in
                calls.all.withLock { $0.append([path] + arguments) }
                return status
            }
        }
        return (run, calls.all.withLock { $0 })
    }

    @Test("allow runs the command once the finger has allowed it, and passes a failure on")
    func allow() throws {
        let words = ["--signatures", "3", "work", "namespace:git", "--", "git", "-x", "y"]
        let answers: [DaemonStep] = [
            .receive, .send(.notice(Notice(.touch))),
            .send(.of(SSHAllowedAnswer(signatures: 3, seconds: 60))),
        ]
        let (run, calls) = try allowing(words, answers)
        #expect(run.code == .done && run.output == "", "\(run.output)")
        #expect(calls == [["/usr/bin/env", "git", "-x", "y"]])
        #expect(run.errors.contains("may make 3 ssh signatures in 60 s for namespace:git"))
        let asked = run.requests.last?.content as? SSHAllowRequest
        #expect(asked?.signatures == 3 && asked?.seconds == 60)
        #expect(try allowing(words, answers, status: 3).run.code == .denied)
        let denied = try allowing(words, [.receive, .send(.denial(Denial(.sshGrantsOff)))])
        #expect(denied.run.code == .denied && denied.calls.isEmpty)
        #expect(denied.run.errors.contains("ssh.grants = allow"))
    }

    @Test("allow wants a destination and a command")
    func allowMisuse() throws {
        let misnamed = try signet(
            ["ssh", "allow", "work", "server", "--", "true"],
            [listed(key("work")), agentListed()]
        ) { $0.uid = 1 }
        #expect(misnamed.code == .usage && misnamed.errors.contains("server is not a destination"))
        for words in [["work", "namespace:git"], ["work"], []] {
            #expect(try signet(["ssh", "allow"] + words).code == .usage)
        }
        #expect(
            try signet(["ssh", "allow", "--seconds", "61", "work", "namespace:git", "true"]).code
                == .usage)
    }
}
