// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let mail = Bytes("mail".utf8)
private let kept: [DaemonStep] = [.send(.done(DoneAnswer()))]

/// Runs `signet secret set` for alice with these bytes as standard input.
private func set(
    _ content: Bytes, words: [String] = ["mail"], _ scripts: [[DaemonStep]]
) throws -> Run {
    let scratch = try Scratch()
    try scratch.write("input", content)
    let input = unsafe open(scratch.at("input"), O_RDONLY | O_CLOEXEC)
    try #require(input >= 0)
    defer { close(input) }
    return try signet(
        ["secret", "set", "--account", "alice"] + words, scripts, in: scratch
    ) { $0.input = input }
}

/// What the daemon says and takes for a secret of so many parts.
private func taking(_ parts: Int) -> [DaemonStep] {
    [.receive, .send(.secretWanted)] + [DaemonStep](repeating: .receive, count: parts) + kept
}

@Suite("signet secret set")
struct SecretSetTests {
    @Test(
        "sends what standard input has, byte for byte, in full parts",
        arguments: [
            [0x61], Bytes("a line\n".utf8), [0, 10, 0xFF, 0, 10],
            Bytes(repeating: 7, count: Limit.secretPart),
            Bytes(repeating: 7, count: Limit.secretPart + 1),
            Bytes(repeating: 7, count: Limit.secret),
        ] as [Bytes])
    func sends(content: Bytes) throws {
        let parts = (content.count + Limit.secretPart - 1) / Limit.secretPart
        let run = try set(content, [taking(parts)])
        #expect(run.code == .done && run.errors == "")
        let told =
            "the secret mail is stored for alice: 'signet secret get' releases it after a touch"
        #expect(run.output == told + "\n")
        let request = SecretSetRequest(
            account: alice, size: UInt32(content.count), name: mail, replaces: false)
        #expect(run.requests.first == .secretSet(request))
        let sent = run.requests.dropFirst().flatMap { request in
            (request.content as? SecretPartRequest)?.part ?? []
        }
        #expect(sent == content && run.requests.count == parts + 1)
    }

    @Test("asks to replace only where that is said")
    func replaces() throws {
        let run = try set([1], words: ["--replace", "--json", "mail"], [taking(1)])
        let request = SecretSetRequest(account: alice, size: 1, name: mail, replaces: true)
        #expect(run.requests.first == .secretSet(request))
        let document = try run.document("secret-kept")
        #expect(document["name"] as? String == "mail")
    }

    @Test("refuses an empty or an oversized secret, without asking the daemon")
    func bounds() throws {
        let empty = try set([], [])
        #expect(empty.code == .denied)
        #expect(empty.errors == "signet: the secret is empty: nothing was stored\n")
        let long = try set(Bytes(repeating: 1, count: Limit.secret + 1), [])
        #expect(long.code == .denied)
        #expect(
            long.errors == "signet: the secret is longer than 65536 bytes: nothing was stored\n")
    }

    @Test(
        "says what is wrong with a name, without asking the daemon",
        arguments: [
            ("", "a secret needs a name"),
            ("a\nb", "a\\x0ab is not a valid name for a secret: it has"),
            ("\u{1B}[2J", "\\x1b[2J is not a valid"),
            ("a\u{202E}", "is not a valid name for a secret: it has"),
            (String(repeating: "x", count: 129), "can have at most 128 bytes"),
        ])
    func names(name: String, text: String) throws {
        for verb in ["set", "get", "delete"] {
            let run = try signet(["secret", verb, "--account", "alice", "--", name])
            #expect(run.code == .usage && run.errors.contains(text), "\(run.errors)")
        }
    }

    @Test("sends no part of a secret that the daemon refuses, and says why")
    func unwanted() throws {
        let reasons: [(Denial, ExitCode, String)] = [
            (
                Denial(.secretExists, subject: mail), .denied,
                "the secret mail already exists. Use '--replace' to replace it"
            ),
            (Denial(.tooManySecrets), .denied, "Delete one with 'signet secret delete'"),
            (Denial(.notEnrolled), .denied, "no finger is enrolled for alice"),
            (Denial(.tooManyRequests), .noService, "too many requests"),
        ]
        for (denial, code, text) in reasons {
            let run = try set([1, 2], [answering(.denial(denial))])
            #expect(run.code == code && run.errors.contains(text), "\(run.errors)")
            #expect(run.requests.count == 1)
        }
    }

    @Test("does not hand a secret to a daemon that asks where none was announced")
    func misled() throws {
        let deleting = try signet(
            ["secret", "delete", "mail", "--account", "alice"], [answering(.secretWanted)])
        #expect(deleting.code == .fault)
        let getting = try signet(
            ["secret", "get", "mail", "--account", "alice"], [answering(.secretWanted)])
        #expect(getting.code == .fault)
        #expect(getting.requests.count == 1)
        let part = try set([1], [answering(.secretPart([1]))])
        #expect(part.code == .fault)
    }
}

@Suite("signet secret get")
struct SecretGetTests {
    private let words = ["secret", "get", "mail", "--account", "alice"]

    private func run(
        _ more: [String] = [], _ answers: [Answer],
        change: (inout CommandEnvironment) -> Void = { _ in }
    ) throws -> Run {
        try signet(words + more, [[.receive] + answers.map { .send($0) }], change: change)
    }

    @Test("writes the bytes and nothing else; messages go to standard error")
    func writes() throws {
        let full = Bytes(repeating: 0x61, count: Limit.secretPart)
        let run = try run(
            [],
            [
                .notice(Notice(.waiting, subject: Bytes("sudo (bob)".utf8))),
                .notice(Notice(.touch, scan: .press)), .notice(Notice(.noMatch, triesLeft: 1)),
                .secretPart(full), .secretPart(Bytes("end".utf8)), .done(DoneAnswer()),
            ])
        #expect(run.code == .done)
        #expect(run.output == String(decoding: full, as: UTF8.self) + "end")
        #expect(
            run.errors == """
                waiting: sudo (bob) is using the reader
                touch the reader to confirm: secret mail (alice)
                the finger did not match: one try left

                """)
        #expect(
            run.requests
                == [.secretGet(account: alice, name: mail, timeoutMilliseconds: 30_000)])
    }

    @Test("ends the output with a newline on a terminal, unless it has one or an option says no")
    func lineEnd() throws {
        for (content, more, output) in [
            ("one", [], "one\n"), ("one\n", [], "one\n"), ("one", ["-n"], "one"),
            ("one", ["--no-newline"], "one"), ("a\tb\nc", [], "a\tb\nc\n"),
        ] as [(String, [String], String)] {
            let answers: [Answer] = [.secretPart(Bytes(content.utf8)), .done(DoneAnswer())]
            let shown = try run(more, answers) { $0.columns = { 80 } }
            #expect(shown.output == output)
            #expect(try run(more, answers).output == content)
        }
    }

    @Test("shows nothing on a terminal that is not text, unless an option says so")
    func binary() throws {
        for content in [[0], [0x61, 0x1B, 0x5B], [0xFF], [0x61, 13], [0xC3]] as [Bytes] {
            let answers: [Answer] = [.secretPart(content), .done(DoneAnswer())]
            let refused = try run([], answers) { $0.columns = { 80 } }
            #expect(refused.code == .denied && refused.output == "")
            #expect(refused.errors.contains("is not text and was not shown"))
            let forced = try run(["--force", "-n"], answers) { $0.columns = { 80 } }
            #expect(forced.code == .done && !forced.output.isEmpty)
        }
    }

    @Test("writes nothing of a secret that does not come whole, or is longer than any")
    func partial() throws {
        let part = Answer.secretPart(Bytes("half".utf8))
        let cut = try run([], [part])
        #expect(cut.code == .noService && cut.output == "")
        let denied = try run([], [part, .denial(Denial(.storage))])
        #expect(denied.code == .fault && denied.output == "")
        let malformed = try signet(words, [[.receive, .send(part), .sendRaw([1, 140, 18, 0, 9])]])
        #expect(malformed.code == .fault && malformed.output == "")
        let full = Answer.secretPart(Bytes(repeating: 0x61, count: Limit.secretPart))
        let long = try run([], [Answer](repeating: full, count: 6) + [.done(DoneAnswer())])
        #expect(long.code == .fault && long.output == "")
    }

    @Test("says where a full disk or a closed pipe took it")
    func unwritten() throws {
        let run = try run([], [.secretPart([0x61]), .done(DoneAnswer())]) {
            $0.release = { _ in false }
        }
        #expect(run.code == .fault)
        #expect(run.errors.contains("could not be written to standard output"))
    }

    @Test("says why there is no secret, and what to do")
    func denied() throws {
        for (denial, text) in [
            (Denial(.unknownSecret, subject: mail), "there is no secret mail. See 'signet secret"),
            (
                Denial(.secretStale, subject: mail),
                "the fingers have changed since the secret mail was stored: set it again"
            ),
            (Denial(.noMatch, mismatches: 3), "the finger did not match"),
            (Denial(.remoteSession), "fingerprint login does not work in remote sessions"),
        ] {
            let run = try run([], [.denial(denial)])
            #expect(run.code == .denied && run.output == "")
            #expect(run.errors.contains(text), "\(run.errors)")
        }
    }

    @Test("gives no document: with --json it is not understood, in JSON")
    func json() throws {
        let run = try signet(words + ["--json"])
        #expect(run.code == .usage)
        let text = try #require(try run.document("error")["text"] as? String)
        #expect(text.hasPrefix("secret get has no option --json"))
    }
}

@Suite("signet secret list and delete")
struct SecretListTests {
    private let answers: [Answer] = [
        .secret(
            SecretAnswer(
                name: mail, size: 12, since: 1_795_195_440, vault: Bytes("file".utf8),
                state: .fits)),
        .secret(
            SecretAnswer(
                name: Bytes("old \u{1B}[2J".utf8), size: 65_536, since: 0,
                vault: Bytes("tpm".utf8), state: .stale)),
        .secret(
            SecretAnswer(name: Bytes("bad".utf8), size: 0, since: 0, vault: [], state: .damaged)),
        .done(DoneAnswer()),
    ]

    @Test("list shows name, day, size, vault, and whether each can be opened")
    func list() throws {
        let run = try signet(
            ["secret", "list", "--account", "alice"], [[.receive] + answers.map { .send($0) }])
        #expect(run.code == .done)
        #expect(
            run.output == """
                name         stored       bytes    vault    state
                mail         20 Nov 2026  12       file     good
                old \\x1b[2J  1 Jan 1970   65536    tpm      the fingers have changed: set it again
                bad          unknown      unknown  unknown  damaged: delete it, or set it again

                """)
        let none = try signet(
            ["secret", "list", "--account", "alice"], [answering(.done(DoneAnswer()))])
        #expect(
            none.output.hasPrefix("no secrets are stored for alice. Run 'signet secret set NAME'"))
    }

    @Test("list in JSON leaves out what is not known")
    func listJSON() throws {
        let run = try signet(
            ["secret", "list", "--account", "alice", "--json"],
            [[.receive] + answers.map { .send($0) }])
        let secrets = try #require(
            try run.document("secrets")["secrets"] as? [[String: Any]])
        #expect(secrets.map { $0["state"] as? String } == ["fits", "stale", "damaged"])
        #expect(secrets.map { $0["size"] as? Int } == [12, 65_536, nil])
        #expect(secrets[0]["since"] as? String == "2026-11-20T17:24:00Z")
    }

    @Test("delete says that it is done, or that there was none")
    func delete() throws {
        let words = ["secret", "delete", "mail", "--account", "alice"]
        let done = try signet(words, [answering(.done(DoneAnswer()))])
        #expect(done.output == "the secret mail of alice was deleted\n")
        #expect(done.requests == [.secretDelete(account: alice, name: mail)])
        let none = try signet(
            words, [answering(.denial(Denial(.unknownSecret, subject: mail)))])
        #expect(none.code == .denied && none.errors.contains("there is no secret mail"))
    }
}

@Suite("What a change of fingers costs")
struct SecretCostTests {
    @Test("list and status show how many secrets open to the fingers")
    func told() throws {
        for (count, text) in [
            (
                1,
                """
                1 secret is sealed to these fingers: if they change, it can no longer be opened

                """
            ),
            (
                2,
                """
                2 secrets are sealed to these fingers: if the fingers change, the secrets can no \
                longer be opened

                """
            ),
        ] as [(UInt32, String)] {
            let run = try signet(
                ["list", "--account", "alice"],
                [
                    answering(.print(samplePrint), .done(DoneAnswer(prints: 1, secrets: count))),
                    answering(.status(sampleStatus)),
                ])
            #expect(run.output.contains(text))
        }
        var status = sampleStatus
        status.secrets = 2
        let run = try signet(
            ["status", "--account", "alice"],
            [answering(.reader(sampleReader), .status(status))])
        #expect(run.output.contains("\nsecrets  2 open with these fingers\n"))
    }

    @Test("enroll says it before it begins, on a terminal, and after it")
    func enroll() throws {
        let words = ["enroll", "left-thumb", "--account", "alice"]
        let done = answering(
            .of(ChangeEffectAnswer("secret", count: 2)), .of(ChangeForecastAnswer()),
            .done(DoneAnswer(finger: .leftThumb, prints: 2, state: .valid, secrets: 2)))
        let run = try signet(words, [done]) { $0.columns = { 80 } }
        let warning = """
            2 secrets are sealed to the current fingers: after this change, you will have to set \
            them again
            """
        #expect(run.output.hasPrefix(warning + "\n"))
        #expect(run.output.hasSuffix("2 secrets can no longer be opened: set them again\n"))
        let elsewhere = try signet(words, [done])
        #expect(!elsewhere.output.contains("after this change"))
        #expect(elsewhere.output.hasSuffix("2 secrets can no longer be opened: set them again\n"))
        let json = try signet(words + ["--json"], [done]).document("enrolled")
        #expect(json["secretsEnded"] as? Int == 2)
    }

    @Test("delete says it after it, and nothing where nothing was lost")
    func delete() throws {
        let words = ["delete", "left-thumb", "--account", "alice"]
        let one = try signet(
            words,
            [answering(.done(DoneAnswer(prints: 1, state: .valid, secrets: 1)))])
        #expect(one.output.hasSuffix("1 secret can no longer be opened: set it again\n"))
        let none = try signet(
            words, [answering(.done(DoneAnswer(prints: 1, state: .valid)))])
        #expect(!none.output.contains("secret"))
    }
}
