// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import SignedFormats
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let first: ServerURL = "https://id.example.org"
private let second: ServerURL = "https://other.example"

private func server(_ url: ServerURL, _ state: ServerKeyState = .good) -> ServerAnswer {
    ServerAnswer(
        account: "al", since: 1_795_195_440, state: state, server: url,
        application: "shop", fingerprint: [])
}

private func operation(
    _ id: UInt8, _ text: String = "pay 10 EUR\nto Bob", at url: ServerURL = first,
    _ state: OperationState = .pending, failures: OperationFailures? = nil
) -> OperationAnswer {
    OperationAnswer(
        account: "al", server: url, application: "shop",
        content: OperationContent(
            operation: .sample(repeating: id), template: Bytes("payment".utf8),
            data: Bytes(text.utf8), created: 1_795_195_440, expires: 1_795_195_740),
        state: state, failures: failures)
}

/// The connection that lists the servers.
private func registered(_ servers: ServerAnswer...) -> [DaemonStep] {
    [.receive] + servers.map { .send(.server($0)) } + [.send(.done(DoneAnswer()))]
}

private func listed(_ answers: Answer...) -> [DaemonStep] {
    [.receive] + answers.map { .send($0) } + [.send(.done(DoneAnswer()))]
}

private func operations(
    _ words: String..., scripts: [[DaemonStep]] = [],
    change: (inout CommandEnvironment) -> Void = { _ in }
) throws -> Run {
    try signet(["operations", "--account", "alice"] + words, scripts, change: change)
}

@Suite("signet operations")
struct OperationTests {
    @Test("lists what awaits, and says what to do next")
    func list() throws {
        let run = try operations(
            scripts: [
                registered(server(first)),
                listed(.operation(operation(0xab)), .operation(operation(0xcd, "log in"))),
            ])
        #expect(run.code == .done && run.errors == "")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].hasPrefix("abababab") && lines[1].contains("payment"))
        #expect(lines[1].contains("2026-11-20T17:29:00Z") && lines[1].hasSuffix("pay 10 EUR…"))
        #expect(lines[2].hasSuffix("log in"))
        #expect(lines[3].contains("'signet operations show ID'"))
        #expect(
            run.requests.last
                == .operationList(
                    OperationListRequest(account: alice, timeoutMilliseconds: 30_000)))
    }

    @Test("says so if nothing awaits, and if no server is known")
    func nothing() throws {
        let none = try operations("list", scripts: [registered(server(first)), listed()])
        #expect(none.code == .done && none.output == "no operation awaits your decision\n")
        let nowhere = try operations(scripts: [registered()])
        #expect(nowhere.code == .denied)
        #expect(nowhere.errors.contains("alice is not registered at any server"))
        let lost = try operations(scripts: [registered(server(first, .invalidated))])
        #expect(lost.code == .denied)
        #expect(lost.errors.contains(String(decoding: first.bytes, as: UTF8.self)))
        #expect(lost.errors.contains(": the fingers have changed"))
    }

    @Test("reports servers that cannot be reached, and shows what the others returned")
    func troubles() throws {
        let trouble = ServerTroubleAnswer(
            server: second, reason: .serverUnreachable, subject: Bytes("no route".utf8))
        let scripts = [
            registered(server(first), server(second)),
            listed(.operation(operation(1)), .serverTrouble(trouble)),
        ]
        let run = try operations(scripts: scripts)
        #expect(run.code == .noService && run.output.contains("01010101"))
        #expect(
            run.errors == "https://other.example: the request to the server failed: no route\n")
        let json = try operations("--json", scripts: scripts)
        let document = try json.document("operations")
        let found = try #require(document["operations"] as? [[String: Any]])
        #expect(found.count == 1 && found[0]["data"] as? String == "pay 10 EUR\nto Bob")
        let troubles = try #require(document["troubles"] as? [[String: Any]])
        #expect(troubles.first?["reason"] as? String == "server-unreachable")
    }

    @Test("shows the whole text, each line behind a bar, and nothing in it steers the terminal")
    func show() throws {
        let text = "pay\n\u{1B}[2J\u{202E}evil\nstate  approved"
        let whole = operation(0xab, text, failures: OperationFailures(count: 1, most: 3))
        let run = try operations(
            "show", "ABAB",
            scripts: [
                registered(server(first)), listed(.operation(whole)), listed(.operation(whole)),
            ])
        #expect(run.code == .done, "\(run.errors)")
        #expect(
            run.output.hasSuffix(
                """
                this is the text that is signed:
                  | pay
                  | \\x1b[2J\\xe2\\x80\\xaeevil
                  | state  approved

                """))
        #expect(run.output.contains("pending") && run.output.contains("1 of 3"))
        let narrow = try operations(
            "show", "abab",
            scripts: [
                registered(server(first)), listed(.operation(whole)),
                listed(.operation(operation(0xab, String(repeating: "x", count: 100)))),
            ]
        ) { $0.columns = { 45 } }
        let bars = narrow.output.split(separator: "\n").filter { $0.hasPrefix("  | ") }
        #expect(bars.map(\.count) == [44, 44, 24])
    }

    @Test("takes the beginning of an id if it means one operation only")
    func prefixes() throws {
        let both: [[DaemonStep]] = [
            registered(server(first), server(second)),
            listed(.operation(operation(0xab)), .operation(operation(0xab, at: second))),
        ]
        let ambiguous = try operations("show", "abab", scripts: both)
        #expect(ambiguous.code == .denied)
        #expect(ambiguous.errors.contains("several operations begin with abab"))
        let unknown = try operations(
            "approve", "cdcd",
            scripts: [registered(server(first)), listed(.operation(operation(0xab)))])
        #expect(unknown.code == .denied)
        #expect(unknown.errors.contains("no operation that awaits your decision begins with cdcd"))
        for word in ["aba", "xyzw", String(repeating: "a", count: 33), "", "\u{1B}[2J"] {
            let bad = try operations("show", "--", word)
            #expect(bad.code == .usage && bad.errors.contains("is not an operation ID"))
        }
        for words in [["show"], ["frob"], ["list", "x"], ["watch", "x"]] {
            let run = try signet(["operations"] + words)
            #expect(run.code == .usage && run.errors.contains("operations takes list"))
        }
    }

    @Test("shows the text, names the operation at the touch, and says what it came to")
    func approve() throws {
        for (word, choice, state, said) in [
            ("approve", OperationChoice.approve, OperationState.approved, "is approved"),
            ("reject", .reject, .rejected, "is rejected"),
        ] {
            let run = try operations(
                word, "abab",
                scripts: [
                    registered(server(first)), listed(.operation(operation(0xab))),
                    [
                        .receive, .send(.operation(operation(0xab, "another text"))),
                        .send(.notice(Notice(.touch))), .send(.decided(state)),
                    ],
                ])
            #expect(run.code == .done, "\(run.errors)")
            // What is shown is what the daemon signs, not what was listed before.
            #expect(run.output.contains("  | another text\n") && !run.output.contains("10 EUR"))
            #expect(run.output.contains("operation abababab of https://id.example.org \(said)"))
            #expect(run.errors.contains("touch the reader to \(word) operation abababab"))
            #expect(
                run.requests.last
                    == .operationDecide(
                        OperationDecideRequest(
                            account: alice, timeoutMilliseconds: 30_000, server: first,
                            operation: .sample(repeating: 0xab), decision: choice)))
        }
    }

    @Test("says why an operation was not decided")
    func refused() throws {
        let cases: [(Denial, ExitCode, String)] = [
            (
                Denial(.operationOver, subject: Bytes("approved".utf8)), .denied,
                "the operation has already been approved"
            ),
            (Denial(.operationOver, subject: Bytes("expired".utf8)), .denied, "in time"),
            (Denial(.operationOver, subject: Bytes("canceled".utf8)), .denied, "has withdrawn the"),
            (Denial(.operationOver, subject: Bytes("failed".utf8)), .denied, "wrong signatures"),
            (
                Denial(.unknownOperation, subject: first.bytes), .denied,
                "there is no such operation"
            ),
            (
                Denial(.serverKeyRemoved, subject: first.bytes), .denied,
                "the key here was destroyed"
            ),
            (
                Denial(.serverUnreachable, subject: [0x78]), .noService,
                "the request to the server failed: x"
            ),
            (
                Denial(.serverRefused, subject: Bytes("policy".utf8)), .denied,
                "does not accept fingerprints"
            ),
            (
                Denial(.serverRefused, subject: Bytes("clock".utf8)), .denied,
                "the clocks of this machine and the server differ"
            ),
            (Denial(.noMatch), .denied, "the finger did not match"),
            (Denial(.readingTokenWanted, subject: first.bytes), .denied, "once every 30 days"),
        ]
        for (denial, code, text) in cases {
            let run = try operations(
                "approve", String(repeating: "ab", count: 16),
                scripts: [
                    registered(server(first)), listed(.operation(operation(0xab))),
                    [.receive, .send(.operation(operation(0xab))), .send(.denial(denial))],
                ])
            #expect(run.code == code && run.errors.contains(text), "\(run.errors)")
        }
        // The server made something else of it.
        let other = try operations(
            "approve", "abab",
            scripts: [
                registered(server(first)), listed(.operation(operation(0xab))),
                [.receive, .send(.decided(.rejected))],
            ])
        #expect(other.code == .denied && other.output.contains("is rejected"))
    }

    @Test("requires a whole id also if the operation no longer awaits anyone")
    func decidedBefore() throws {
        let id = String(repeating: "cd", count: 16)
        let over = operation(0xcd, at: second, .approved)
        let run = try operations(
            "show", id,
            scripts: [
                registered(server(first), server(second)), listed(),
                registered(server(first), server(second)),
                answering(.denial(Denial(.unknownOperation, subject: first.bytes))),
                listed(.operation(over)), listed(.operation(over)),
            ])
        #expect(run.code == .done && run.output.contains("approved"), "\(run.errors)")
    }

    @Test("decides nothing whose text could not be written, and says so before the touch")
    func unwritten() throws {
        for word in ["approve", "reject"] {
            let run = try operations(
                word, "abab",
                scripts: [
                    registered(server(first)), listed(.operation(operation(0xab))),
                    [
                        .receive, .send(.operation(operation(0xab))),
                        .receive, .send(.denial(Denial(.cancelled))),
                    ],
                ]
            ) { $0.output = { !$0.starts(with: Bytes("this is the text".utf8)) } }
            #expect(run.code == .fault && run.requests.last == .cancel)
            #expect(run.errors.hasSuffix("standard output, and was not decided\n"), "\(run.errors)")
        }
        // What was read otherwise ends so, too.
        for words in [[], ["--json"]] {
            let list = try operations(
                words.first ?? "list",
                scripts: [registered(server(first)), listed(.operation(operation(0xab)))]
            ) { $0.output = { _ in false } }
            #expect(list.code == .fault && list.errors.contains("could not be written completely"))
        }
    }

    @Test("a terminal gets a line for each operation, however long its text", arguments: [80, 100])
    func fits(columns: Int) throws {
        var soon = operation(0xab, String(repeating: "x", count: 200))
        soon.content.expires = UInt64(Clock.system.wallSeconds()) + 3_000
        let run = try operations(
            scripts: [registered(server(first)), listed(.operation(soon))]
        ) { $0.columns = { columns } }
        let row = try #require(run.output.split(separator: "\n").dropFirst().first)
        #expect(row.count == columns && row.hasSuffix("x…") && row.contains(" min "))
    }

    @Test("watches: each operation once as it arrives, and each fault once, until it is stopped")
    func watch() throws {
        let event = try Event()
        let trouble = ServerTroubleAnswer(
            server: first, reason: .serverUnreachable, subject: Bytes("gone".utf8))
        var scripts: [[DaemonStep]] = [
            registered(server(first)), listed(.operation(operation(1))),
            listed(.operation(operation(1)), .operation(operation(2))),
            listed(.serverTrouble(trouble)), listed(.serverTrouble(trouble)),
            listed(.operation(operation(2)), .operation(operation(3, "the last"))),
        ]
        scripts.append([
            .receive, .send(.denial(Denial(.serverKeyInvalidated, subject: first.bytes))),
        ])
        let run = try operations("watch", "--json", scripts: scripts) {
            $0.watchInterval = .milliseconds(1)
            $0.interrupts = event.descriptor.number
        }
        // What does not pass by itself ends it.
        #expect(run.code == .denied)
        let ids = try run.documents().compactMap { document in
            (document["operation"] as? [String: Any])?["operation"] as? String
        }
        #expect(ids.map { $0.prefix(2) } == ["01", "02", "03"])
        #expect(run.errors.split(separator: "\n").filter { $0.contains("gone") }.count == 1)
        let timeouts = run.requests.compactMap { request -> UInt32?? in
            (request.content as? OperationListRequest).map { $0.timeoutMilliseconds }
        }
        // A touch may be asked for at the beginning, and never later.
        #expect(timeouts.first == 30_000 && timeouts.dropFirst().allSatisfy { $0 == nil })
    }

    @Test("ends a watch silently with 130 on a signal")
    func interrupted() throws {
        let event = try Event()
        event.happen()
        let run = try operations("watch", scripts: [registered(server(first))]) {
            $0.interrupts = event.descriptor.number
        }
        #expect(run.code == .interrupted && run.output == "")
    }
}

@Suite("signet operations on a terminal")
struct OperationTerminalTests {
    /// The built program in a fixture, with a fake daemon where the real one would listen.
    private func terminal(
        _ words: [String], _ scripts: [[DaemonStep]]
    ) throws -> (Terminal, FakeDaemon, HostFixture) {
        let host = try HostFixture()
        try host.run(["mkdir", "-p", "-m", "755", "/run/signet"])
        let daemon = try FakeDaemon(at: host.path("/run/signet/signetd.sock"), scripts)
        let program = "\(Layout.products)/signet"
        return (
            try host.terminal([program, "operations"] + words, as: HostFixture.alice), daemon, host
        )
    }

    @Test("^C instead of the touch takes the decision back, and ends with 130")
    func interrupted() throws {
        let (terminal, daemon, host) = try terminal(
            ["approve", "abab"],
            [
                registered(server(first)), listed(.operation(operation(0xab))),
                [
                    .receive, .send(.operation(operation(0xab))), .send(.notice(Notice(.touch))),
                    .receive, .send(.denial(Denial(.cancelled))),
                ],
            ])
        defer { host.end() }
        try terminal.expect("  | to Bob\r\n")
        try terminal.expect("touch the reader to approve operation abababab of https://id")
        try terminal.control(.c)
        try terminal.expect("^C\r\nsignet: cancelled: nothing was changed\r\n")
        #expect(try terminal.expectEnd() == .exited(130))
        #expect(try daemon.requests().last == .cancel)
        #expect(!terminal.transcript.contains("is approved"))
    }

    @Test("^C after the touch says that it may come too late, on a line of its own")
    func interruptedLate() throws {
        let asking = Notice(.askingServer, subject: first.bytes)
        let (terminal, daemon, host) = try terminal(
            ["approve", "abab"],
            [
                registered(server(first)), listed(.operation(operation(0xab))),
                [
                    .receive, .send(.operation(operation(0xab))), .send(.notice(Notice(.touch))),
                    .send(.notice(asking)), .receive, .send(.denial(Denial(.cancelled))),
                ],
            ])
        defer { host.end() }
        try terminal.expect("asking https://id.example.org\r\n")
        try terminal.control(.c)
        let id = String(repeating: "ab", count: 16)
        try terminal.expect(
            "^C\r\nsignet: interrupted: https://id.example.org may already have carried out "
                + "the request. See 'signet operations show \(id)'\r\n")
        #expect(try terminal.expectEnd() == .exited(130))
        #expect(try daemon.requests().last == .cancel)
    }

    @Test("^C ends a watch with 130 and without a message; what arrived is shown")
    func watch() throws {
        let (terminal, daemon, host) = try terminal(
            ["watch"],
            [registered(server(first)), listed(.operation(operation(0xab, "\u{1B}[2J")))])
        defer { host.end() }
        try terminal.expect("new operations are shown as they arrive. Press Ctrl-C to stop\r\n")
        try terminal.expect("  | \\x1b[2J\r\n")
        try terminal.control(.c)
        #expect(try terminal.expectEnd() == .exited(130))
        #expect(terminal.transcript.hasSuffix("  | \\x1b[2J\r\n^C"))
        _ = try daemon.requests()
    }
}
