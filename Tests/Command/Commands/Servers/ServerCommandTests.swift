// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import Glibc
import LoginMessages
import LoginProtocol
import Posix
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let url = "https://id.example"
private let token = TokenAnswer(
    accessToken: Bytes("eyJ.a.b".utf8), seconds: 300, refreshToken: Bytes("sgr_x".utf8))

private func run(
    _ words: [String], _ scripts: [[DaemonStep]] = [], input: String = "",
    until told: String? = nil,
    machine: String = ""
) throws -> Run {
    let scratch = try Scratch()
    try scratch.write("input", input)
    let number = unsafe open(scratch.at("input"), O_RDONLY | O_CLOEXEC)
    try #require(number >= 0)
    defer { close(number) }
    let event = try Event()
    return try signet(words + ["--account", "alice"], scripts, in: scratch) {
        $0.input = number
        $0.machineName = { Bytes(machine.utf8) }
        guard let told else { return }
        // A signal comes once this was said.
        $0.interrupts = event.descriptor.number
        $0.errors = { [errors = $0.errors] bytes in
            errors(bytes)
            if String(decoding: bytes, as: UTF8.self).hasPrefix(told) { event.happen() }
        }
    }
}

@Suite("The commands about servers")
struct ServerCommandTests {
    @Test(
        "are refused if the arguments make no sense, without asking the daemon",
        arguments: [
            (
                ["enable", "--server", "http://id.example"],
                "is not the URL of a server. A valid one looks like https"
            ),
            (["enable", "--server", "https://u@id.example"], "is not the URL of a server"),
            (
                ["disable", "--server", "id.example\u{1B}"],
                "id.example\\x1b is not the URL of a server"
            ),
            (["login", "ftp://x"], "ftp://x is not the URL of a server"),
            (["login", url, url], "login does not take"),
            (["enable", "--server", url, "--keyring"], "needs either --server or --keyring"),
            (["enable", "--server", url, "--signing"], "needs either --signing or --server"),
            (["disable", "--server", url, "--signing"], "needs either --signing or --server"),
            (["login", "--secret", "x"], "--secret needs the URL of a server"),
            (["login", url, "--replace"], "--replace also needs --secret"),
            (["login", url, "--secret", "-x"], "it begins with a hyphen"),
        ])
    func usage(words: [String], text: String) throws {
        let run = try run(words)
        #expect(run.code == .usage && run.errors.contains(text), "\(run.errors)")
        #expect(run.requests.isEmpty && run.output == "")
    }

    @Test("enable sends the code that was typed, and no mistyped one")
    func enable() throws {
        let done = ServerEnabledAnswer(
            account: "alice", application: "shop",
            fingerprint: Bytes("SHA256:abc".utf8), progress: .active)
        let listed = answering(.done(DoneAnswer()))
        let good = try run(
            ["enable", "--server", url],
            [
                listed,
                [.receive, .send(.notice(Notice(.touch))), .send(.serverEnabled(done))],
            ], input: "oooooooooooooooooooo\n")
        #expect(good.code == .done, "\(good.errors)")
        #expect(good.errors == "touch the reader to register this device at \(url)\n")
        #expect(good.output.contains("this device is registered at \(url) as alice, for shop"))
        let swiped = try run(
            ["enable", "--server", url],
            [
                listed,
                [
                    .receive, .send(.notice(Notice(.touch, scan: .swipe))),
                    .send(.serverEnabled(done)),
                ],
            ], input: "oooooooooooooooooooo\n")
        #expect(
            swiped.errors
                == "swipe your finger across the reader to register this device at \(url)\n")
        #expect(good.output.hasSuffix("the fingerprint of this device's key is SHA256:abc\n"))
        let code = Bytes("00000-00000-00000-00000".utf8)
        let request = ServerEnableRequest(account: alice, server: ServerURL(url), code: code)
        #expect(good.requests == [.serverList(account: alice), .serverEnable(request)])
        for (typed, text) in [
            (
                "00000-00000-00000-00001\n",
                "the activation code contains a typing error: nothing was sent"
            ),
            ("", "no activation code was given"),
            (String(repeating: "0", count: 99), "contains a typing error"),
        ] {
            let bad = try run(["enable", "--server", url], [listed], input: typed)
            #expect(bad.code == .denied && bad.errors.contains(text), "\(bad.errors)")
        }
    }

    @Test("enable sends the name that was given, or else the machine's, as far as that can be one")
    func names() throws {
        let done = ServerEnabledAnswer(
            account: "alice", application: "shop", fingerprint: Bytes("F".utf8), progress: .active)
        let scripts = [answering(.done(DoneAnswer())), answering(.serverEnabled(done))]
        let code = "00000-00000-00000-00000"
        for (words, machine, name) in [
            (["--name", "Alice laptop (2)"], "host", "Alice laptop (2)"), ([], "host", "host"),
            ([], "h\u{1B}[2Jo\u{E9}st ", "h2Jost"), ([], "", nil), ([], "\u{1B}", nil),
        ] as [([String], String, String?)] {
            let run = try run(
                ["enable", "--server", url] + words, scripts, input: "\(code)\n",
                machine: machine)
            #expect(run.code == .done, "\(run.errors)")
            let request = ServerEnableRequest(
                account: alice, server: ServerURL(url), code: Bytes(code.utf8),
                deviceName: name.flatMap { DeviceName(Bytes($0.utf8)) })
            #expect(run.requests.last == .serverEnable(request))
            let text = "the server shows it as '\(name ?? "")'"
            #expect(run.output.contains(text) == (name != nil), "\(run.output)")
        }
        let document = try run(
            ["enable", "--server", url, "--name", "desk", "--json"], scripts, input: "\(code)\n"
        ).document("registered")
        #expect(document["deviceName"] as? String == "desk")
    }

    @Test(
        "enable refuses a name that is none before anything is asked",
        arguments: [
            " ", "a\n", "a\u{1B}[2J", "\u{E9}", "<b>", " a", "a ",
            String(repeating: "n", count: 65),
        ])
    func badNames(name: String) throws {
        let run = try run(["enable", "--server", url, "--name", name])
        #expect(run.code == .usage && run.requests.isEmpty)
        #expect(run.errors.contains("is not a valid device name"), "\(run.errors)")
        #expect(!run.errors.contains("\u{1B}"))
    }

    @Test("enable takes a name only for a registration")
    func nameElsewhere() throws {
        for words in [
            ["enable", "--name", "desk"], ["enable", "--signing", "--name", "desk"],
            ["enable", "--server", url, "--password-key", "--name", "desk"],
        ] {
            let run = try run(words)
            #expect(run.code == .usage && run.requests.isEmpty, "\(run.errors)")
        }
    }

    @Test("login lists a server with the name that the device has there")
    func listedName() throws {
        var server = sampleServer
        server.deviceName = DeviceName(Bytes("desk".utf8))
        let script = [answering(.server(server), .done(DoneAnswer()))]
        let text = try run(["login"], script)
        #expect(text.output.contains("since 20 Nov 2026, device 'desk'\n"), "\(text.output)")
    }

    @Test("enable asks for no code where this device is registered already, and its key is good")
    func known() throws {
        var there = sampleServer
        there.server = ServerURL(url)
        there.state = .good
        let good = answering(.server(there), .done(DoneAnswer()))
        let refused = try run(["enable", "--server", url], [good], input: "00000000000000000000")
        #expect(refused.code == .denied && refused.requests == [.serverList(account: alice)])
        #expect(refused.errors.contains("is already registered at \(url)"), "\(refused.errors)")
        there.state = .invalidated
        let done = ServerEnabledAnswer(
            account: "alice", application: "shop", fingerprint: Bytes("F".utf8),
            progress: .active)
        let anew = try run(
            ["enable", "--server", url],
            [answering(.server(there), .done(DoneAnswer())), answering(.serverEnabled(done))],
            input: "00000000000000000000")
        #expect(anew.code == .done && anew.requests.count == 2, "\(anew.errors)")
    }

    @Test("enable says that a person has yet to compare the key")
    func pending() throws {
        let done = ServerEnabledAnswer(
            account: "alice", application: "shop", fingerprint: Bytes("F".utf8),
            progress: .pendingCommit)
        let run = try run(
            ["enable", "--server", url, "--json"],
            [answering(.done(DoneAnswer())), answering(.serverEnabled(done))],
            input: "00000000000000000000")
        #expect(try run.document("registered")["pending"] as? Bool == true)
    }

    @Test("disable says whether the server knows")
    func disable() throws {
        for (state, text, isKnown) in [
            (CredentialState.none, "is no longer registered at \(url)", true),
            (.disabled, "The server has not been informed yet; it will be as soon as it", false),
            (.invalidated, "The server was not informed: ask its administrator to remove", false),
        ] {
            let words = ["disable", "--server", url + "/"]
            let listed = answering(.server(sampleServer), .done(DoneAnswer()))
            let answer = answering(.done(DoneAnswer(state: state)))
            let plain = try run(words, [listed, answer])
            #expect(plain.code == .done && plain.output.contains(text))
            #expect(
                plain.requests.last == .serverDisable(account: alice, server: ServerURL(url)))
            let document = try run(words + ["--json"], [listed, answer]).document("unregistered")
            #expect(document["serverKnows"] as? Bool == isKnown)
        }
    }

    @Test("disable waits as long as a server may take, not only as long as the daemon")
    func slow() throws {
        let listed = answering(.server(sampleServer), .done(DoneAnswer()))
        let slow: [DaemonStep] = [
            .receive, .send(.notice(Notice(.askingServer, subject: Bytes(url.utf8)))),
            .pause(milliseconds: 3_000),
            .send(.done(DoneAnswer(state: CredentialState.none))),
        ]
        let run = try signet(
            ["disable", "--server", url, "--account", "alice"], [listed, slow]
        ) { $0.answerLimit = .seconds(2) }
        #expect(run.code == .done, "\(run.errors)")
    }

    @Test("disable asks for no password if there is nothing to remove")
    func disableNothing() throws {
        let run = try run(["disable", "--server", url], [answering(.done(DoneAnswer()))])
        #expect(run.code == .denied && run.output == "")
        #expect(run.errors.contains("not registered at \(url)"), "\(run.errors)")
        #expect(run.requests == [.serverList(account: alice)])
    }

    @Test("where a signal comes while a server is asked, does not say that nothing was changed")
    func interrupted() throws {
        let listed = answering(.server(sampleServer), .done(DoneAnswer()))
        let asking = Notice(.askingServer, subject: Bytes(url.utf8))
        let others = Notice(.waiting, subject: Bytes("bob".utf8))
        for (notices, last, reason) in [
            (
                [asking], "\(url) may already have carried out the request. See 'signet login'",
                "interrupted-asking"
            ),
            ([asking, Notice(.touch), others], "cancelled: nothing was changed", "interrupted"),
            ([others], "cancelled: nothing was changed", "interrupted"),
        ] {
            let script =
                [.receive] + notices.map { DaemonStep.send(.notice($0)) }
                + [.receive, .send(.denial(Denial(.cancelled)))]
            let end = notices.last == asking ? "asking https" : "waiting: bob"
            let plain = try run(["disable", "--server", url], [listed, script], until: end)
            #expect(plain.code == .interrupted && plain.errors.hasSuffix(last + "\n"))
            #expect(plain.requests.last == .cancel)
            let json = try run(
                ["disable", "--server", url, "--json"], [listed, script], until: end)
            #expect(try json.document("error")["reason"] as? String == reason)
        }
    }

    @Test("login writes the token and nothing else to standard output")
    func login() throws {
        let listed = answering(.server(sampleServer), .done(DoneAnswer()))
        let asked: [DaemonStep] = [.receive, .send(.notice(Notice(.touch))), .send(.token(token))]
        let plain = try run(["login", url], [listed, asked])
        #expect(plain.code == .done && plain.output == "eyJ.a.b\n")
        #expect(plain.errors == "touch the reader to log in to \(url) as al:ice\\x1b\n")
        let document = try run(["login", url, "--json"], [listed, asked]).document("token")
        #expect(document["accessToken"] as? String == "eyJ.a.b")
        #expect(document["refreshToken"] as? String == "sgr_x")
    }

    @Test("login alone lists the servers")
    func list() throws {
        let plain = try run(["login"], [answering(.server(sampleServer), .done(DoneAnswer()))])
        #expect(plain.output.hasPrefix("\(url), as al:ice\\x1b for shop, since 20 Nov 2026\n"))
        let none = try run(["login"], [answering(.done(DoneAnswer()))])
        #expect(none.code == .done && none.output.contains("alice is not registered at any server"))
    }

    @Test("login stores the token as a secret, and shows nothing of it")
    func secret() throws {
        let scripts: [[DaemonStep]] = [
            answering(.done(DoneAnswer())), answering(.done(DoneAnswer())),
            answering(.token(token)),
            [.receive, .send(.secretWanted), .receive, .send(.done(DoneAnswer()))],
        ]
        let plain = try run(["login", url, "--secret", "shop"], scripts)
        #expect(plain.code == .done, "\(plain.errors)")
        #expect(!plain.output.contains("eyJ") && !plain.errors.contains("eyJ"))
        #expect(plain.output.contains("is stored as the secret shop, and is valid for 300 s"))
        let request = SecretSetRequest(
            account: alice, size: 7, name: Bytes("shop".utf8), replaces: false)
        #expect(
            plain.requests.suffix(2) == [.secretSet(request), .secretPart(token.accessToken)])
        let document = try run(["login", url, "--secret", "shop", "--json"], scripts)
            .document("token-kept")
        #expect(document["expiresIn"] as? Int == 300 && document["accessToken"] == nil)
    }

    @Test("login asks for no touch if the secret exists already, and may not be replaced")
    func secretExists() throws {
        let kept = answering(
            .secret(
                SecretAnswer(
                    name: Bytes("shop".utf8), size: 1, since: 0, vault: [], state: .fits)),
            .done(DoneAnswer()))
        let refused = try run(["login", url, "--secret", "shop"], [kept])
        #expect(refused.code == .denied && refused.requests.count == 1)
        #expect(refused.errors.contains("Use '--replace' to replace it"))
        let replaced = try run(
            ["login", url, "--secret", "shop", "--replace"],
            [
                kept, answering(.done(DoneAnswer())), answering(.token(token)),
                [.receive, .send(.secretWanted), .receive, .send(.done(DoneAnswer()))],
            ])
        #expect(replaced.code == .done)
        guard let request = replaced.requests[3].content as? SecretSetRequest else {
            Issue.record("\(replaced.requests)")
            return
        }
        #expect(request.replaces)
    }

    @Test("login asks for no touch, and gets no token, if there is no space for another secret")
    func secretsFull() throws {
        func kept(_ count: Int) -> [DaemonStep] {
            let secrets = (0..<count).map { number in
                Answer.secret(
                    SecretAnswer(
                        name: Bytes("s\(number)".utf8), size: 1, since: 0, vault: [],
                        state: .fits))
            }
            return [.receive] + secrets.map { .send($0) } + [.send(.done(DoneAnswer()))]
        }
        for options in [[], ["--replace"]] {
            let refused = try run(["login", url, "--secret", "shop"] + options, [kept(64)])
            #expect(refused.code == .denied && refused.requests.count == 1)
            #expect(refused.errors.contains("no more secrets can be stored. Delete one"))
        }
        let more: [[DaemonStep]] = [
            answering(.done(DoneAnswer())), answering(.token(token)),
            [.receive, .send(.secretWanted), .receive, .send(.done(DoneAnswer()))],
        ]
        let last = try run(["login", url, "--secret", "shop"], [kept(63)] + more)
        #expect(last.code == .done, "\(last.errors)")
        // One that is there takes no other's room.
        let over = try run(["login", url, "--secret", "s7", "--replace"], [kept(64)] + more)
        #expect(over.code == .done, "\(over.errors)")
    }

    @Test("say why a request is refused, and end as the other commands do")
    func denials() throws {
        let cases: [(Denial, ExitCode, String)] = [
            (
                Denial(.serverUnreachable, subject: Bytes("why\n".utf8)), .noService,
                "the request to the server failed: why\\x0a"
            ),
            (
                Denial(.serverRefused, subject: Bytes("refused".utf8)), .denied,
                "server refused: refused"
            ),
            (
                Denial(.serverRefused, subject: Bytes("slow-down".utf8)), .denied,
                "the server received too many requests"
            ),
            (Denial(.unknownServer, subject: Bytes(url.utf8)), .denied, "is not registered at"),
            (
                Denial(.serverKeyReplaced, subject: Bytes(url.utf8)), .denied,
                "another device replaced this one"
            ),
            (
                Denial(.serverKeyRemoved, subject: Bytes(url.utf8)), .denied,
                "registration was removed at"
            ),
            (
                Denial(.serverKeyBlocked, subject: Bytes(url.utf8)), .denied,
                "the registration at \(url) is blocked"
            ),
            (Denial(.serverKeyInvalidated), .denied, "the fingers have changed since"),
            (Denial(.notPermitted), .denied, "you may not do this for alice"),
        ]
        for (denial, code, text) in cases {
            let run = try run(
                ["login", url], [answering(.done(DoneAnswer())), answering(.denial(denial))])
            #expect(run.code == code && run.output == "")
            #expect(run.errors.contains(text), "\(run.errors)")
        }
        let absent = try run(["login", url])
        #expect(absent.code == .noService && absent.output == "")
    }
}
