// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let first: ServerURL = "https://id.example.org"
private let second: ServerURL = "https://other.example"

private func server(_ url: ServerURL, _ state: ServerKeyState = .good) -> ServerAnswer {
    ServerAnswer(
        account: "al", since: 1_795_195_440, state: state, server: url, application: "shop",
        fingerprint: [])
}

private func session(
    _ id: UInt8, at url: ServerURL = first, name: String? = nil, isOwn: Bool = false
) -> Answer {
    .of(
        SessionAnswer(
            server: url,
            content: SessionContent(
                session: .sample(repeating: id), device: .sample(repeating: 0xd1),
                deviceName: name.flatMap { DeviceName(Bytes($0.utf8)) }, isOwn: isOwn,
                factor: .fingerprint, created: 1_795_195_440, refreshed: 1_795_195_500,
                expires: 9_000_000_000, address: Bytes("192.0.2.7".utf8),
                agent: Bytes("curl\u{1B}[2J".utf8))))
}

private func count(_ number: UInt32, at url: ServerURL = first) -> Answer {
    .of(SessionCountAnswer(server: url, count: number))
}

private func registered(_ servers: ServerAnswer...) -> [DaemonStep] {
    [.receive] + servers.map { .send(.server($0)) } + [.send(.done(DoneAnswer()))]
}

private func listed(_ answers: Answer...) -> [DaemonStep] {
    [.receive] + answers.map { .send($0) } + [.send(.done(DoneAnswer()))]
}

private func sessions(_ words: String..., scripts: [[DaemonStep]] = []) throws -> Run {
    try signet(["sessions", "--account", "alice"] + words, scripts)
}

private func ending(_ id: UInt8?, at url: ServerURL = first) -> Request {
    .sessionEnd(
        SessionEndRequest(
            account: alice, timeoutMilliseconds: 30_000, server: url,
            session: id.map { .sample(repeating: $0) }))
}

@Suite("signet sessions")
struct SessionsTests {
    @Test("lists the sessions, which one is this device's, and what to do next")
    func list() throws {
        let run = try sessions(
            scripts: [
                registered(server(first)),
                listed(
                    session(0xab, name: "desk", isOwn: true), session(0xcd), count(3)),
            ])
        #expect(run.code == .done && run.errors == "", "\(run.errors)")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 5, "\(run.output)")
        #expect(lines[1].hasPrefix("abababab") && lines[1].contains("desk (this device)"))
        #expect(lines[1].contains("2026-11-20T17:24:00Z") && lines[1].contains("192.0.2.7"))
        #expect(lines[2].contains("d1d1d1d1") && !lines[2].contains("this device"))
        #expect(lines[3] == "older sessions at https://id.example.org that are not shown: 1")
        #expect(lines[4].contains("are unverified"))
        #expect(!run.output.contains("\u{1B}") && run.output.contains("curl\\x1b[2J"))
        #expect(
            run.requests.last
                == .sessionList(SessionListRequest(account: alice, timeoutMilliseconds: 30_000)))
    }

    @Test("prints the list as JSON")
    func json() throws {
        let run = try sessions(
            "--json",
            scripts: [
                registered(server(first)),
                listed(session(0xab, name: "desk", isOwn: true), count(1)),
            ])
        let document = try run.document("sessions")
        let list = try #require(document["sessions"] as? [[String: Any]])
        #expect(list.count == 1)
        #expect(list[0]["session"] as? String == String(repeating: "ab", count: 16))
        #expect(list[0]["thisDevice"] as? Bool == true)
        #expect(list[0]["deviceName"] as? String == "desk")
        #expect(list[0]["factor"] as? String == "fingerprint")
        #expect(list[0]["address"] as? String == "192.0.2.7")
        #expect(list[0]["refreshed"] as? String == "2026-11-20T17:25:00Z")
    }

    @Test("says so if there are none, if no server is known, and if one gives no answer")
    func nothing() throws {
        let none = try sessions("list", scripts: [registered(server(first)), listed(count(0))])
        #expect(none.code == .done)
        #expect(none.output == "no sessions: you are not logged in at any server\n")
        let nowhere = try sessions(scripts: [registered()])
        #expect(nowhere.code == .denied)
        #expect(nowhere.errors.contains("alice is not registered at any server"))
        let trouble = ServerTroubleAnswer(
            server: second, reason: .serverUnreachable, subject: Bytes("no route".utf8))
        let half = try sessions(
            scripts: [
                registered(server(first), server(second)),
                listed(session(0xab), count(1), .serverTrouble(trouble)),
            ])
        #expect(half.code == .noService && half.output.contains("abababab"))
        #expect(half.errors.contains("https://other.example: "))
    }

    @Test("ends the session that the beginning of an id names")
    func end() throws {
        let run = try sessions(
            "end", "CDCD",
            scripts: [
                registered(server(first), server(second)),
                listed(session(0xab), count(1), session(0xcd, at: second), count(1, at: second)),
                listed(count(1, at: second)),
            ])
        #expect(run.code == .done, "\(run.errors)")
        #expect(run.output.hasPrefix("session cdcdcdcd at https://other.example has ended"))
        #expect(run.requests.last == ending(0xcd, at: second))
        let document = try sessions(
            "end", "abab", "--json",
            scripts: [
                registered(server(first)), listed(session(0xab), count(1)), listed(count(1)),
            ]
        ).document("session-ended")
        #expect(document["session"] as? String == String(repeating: "ab", count: 16))
    }

    @Test("ends none if the id is ambiguous, unknown, or none")
    func unclear() throws {
        let two: [[DaemonStep]] = [
            registered(server(first), server(second)),
            listed(session(0xab), count(1), session(0xab, at: second), count(1, at: second)),
        ]
        let both = try sessions("end", "abab", scripts: two)
        #expect(both.code == .denied && both.requests.count == 2)
        #expect(both.errors.contains("several sessions begin with abab"))
        let unknown = try sessions("end", "cdcd", scripts: two)
        #expect(unknown.code == .denied && unknown.requests.count == 2)
        #expect(unknown.errors.contains("no session begins with cdcd"))
        for bad in ["abc", "xyzw", String(repeating: "a", count: 33)] {
            let run = try sessions("end", bad)
            #expect(run.code == .usage && run.requests.isEmpty, "\(bad)")
            #expect(run.errors.contains("is not a session ID"))
        }
    }

    @Test("asks the server about a whole id that it has not listed")
    func unlisted() throws {
        let id = String(repeating: "ef", count: 16)
        for (denial, text) in [
            (Denial(.sessionOver, subject: Bytes(id.utf8)), "has already ended"),
            (Denial(.unknownSession, subject: Bytes(id.utf8)), "there is no session \(id)"),
        ] {
            let run = try sessions(
                "end", id,
                scripts: [
                    registered(server(first)), listed(session(0xab), count(1)),
                    answering(.denial(denial)),
                ])
            #expect(run.code == .denied && run.errors.contains(text), "\(run.errors)")
            #expect(run.requests.last == ending(0xef))
        }
    }

    @Test("ends all at the only server, or the one that is named")
    func all() throws {
        let one = try sessions(
            "end", "--all", scripts: [registered(server(first)), listed(count(4))])
        #expect(one.code == .done && one.requests.last == ending(nil))
        #expect(one.output.hasPrefix("sessions ended at https://id.example.org: 4."))
        let named = try sessions(
            "end", "--all", "--server", "https://other.example",
            scripts: [listed(count(0, at: second))])
        #expect(named.code == .done && named.requests == [ending(nil, at: second)])
        let several = try sessions(
            "end", "--all", scripts: [registered(server(first), server(second))])
        #expect(several.code == .usage && several.requests.count == 1)
        #expect(several.errors.contains("registered at several servers"))
    }

    @Test("asks for a touch where one is wanted, and says what it allows")
    func touch() throws {
        let run = try sessions(
            scripts: [
                registered(server(first)),
                listed(.notice(Notice(.touch)), count(0)),
            ])
        #expect(
            run.errors
                == "touch the reader to list and end sessions for the next 30 days\n"
        )
    }

    @Test("says what prevents it: an old server, a blocked registration")
    func refusals() throws {
        for (denial, text) in [
            (Denial(.sessionsUnknown, subject: first.bytes), "cannot list or end sessions"),
            (Denial(.serverKeyBlocked, subject: first.bytes), "blocked"),
        ] {
            let run = try sessions(
                "--server", "https://id.example.org", scripts: [answering(.denial(denial))])
            #expect(run.code == .denied && run.errors.contains(text), "\(run.errors)")
        }
    }

    @Test(
        "takes list, end ID and end --all, and nothing else",
        arguments: [
            ["end"], ["end", "abab", "--all"], ["list", "--all"], ["--all"], ["list", "x"],
            ["stop"], ["end", "abab", "cdcd"],
        ])
    func usage(words: [String]) throws {
        let run = try signet(["sessions", "--account", "alice"] + words)
        #expect(run.code == .usage && run.requests.isEmpty, "\(run.errors)")
    }
}
