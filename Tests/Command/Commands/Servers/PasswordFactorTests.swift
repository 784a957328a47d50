// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Glibc
import LoginProtocol
import Posix
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let url = "https://id.example"
private let token = TokenAnswer(
    accessToken: Bytes("eyJ.a.b".utf8), seconds: 300, refreshToken: [])

private func run(_ words: [String], _ scripts: [[DaemonStep]], input: String = "right\n") throws
    -> Run
{
    let scratch = try Scratch()
    try scratch.write("input", input)
    let number = unsafe open(scratch.at("input"), O_RDONLY | O_CLOEXEC)
    try #require(number >= 0)
    defer { close(number) }
    return try signet(words + ["--account", "alice"], scripts, in: scratch) { $0.input = number }
}

private func registered(hasPasswordKey: Bool) -> [DaemonStep] {
    var server = sampleServer
    server.server = ServerURL(url)
    server.account = "al"
    server.state = .good
    server.hasPasswordKey = hasPasswordKey
    return [.receive, .send(.server(server)), .send(.done(DoneAnswer()))]
}

/// A request that wants the password, and is answered so.
private func asking(_ answers: Answer...) -> [DaemonStep] {
    [.receive, .send(.passwordWanted(account: alice)), .receive] + answers.map { .send($0) }
}

@Suite("The password in place of a finger")
struct PasswordFactorTests {
    private static let operation = OperationAnswer(
        account: "al", server: ServerURL(url), application: "shop",
        content: OperationContent(
            operation: .sample(repeating: 0xab), template: Bytes("payment".utf8),
            data: Bytes("pay".utf8), created: 1_795_195_440, expires: 1_795_195_740),
        state: .pending, failures: OperationFailures(count: 0, most: 3), factors: .both)

    @Test("logs in, with the password from standard input")
    func login() throws {
        for words in [["--password", "--password-stdin"], ["--password-stdin"]] {
            let run = try run(
                ["login", url] + words,
                [registered(hasPasswordKey: true), asking(.token(token))])
            #expect(run.code == .done && run.output == "eyJ.a.b\n", "\(run.errors)")
            #expect(
                run.requests == [
                    .serverList(account: alice),
                    .serverLogin(
                        account: alice, server: ServerURL(url), timeoutMilliseconds: 30_000,
                        factor: .password), .password(Bytes("right".utf8)),
                ])
        }
    }

    @Test("is what a failed finger is told of, where the server accepts it")
    func offered() throws {
        let offer = "if you cannot use your finger: this server also accepts your password"
        for (hasKey, denial, expected) in [
            (true, Denial(.noMatch), true), (false, Denial(.noMatch), false),
            (true, Denial(.timedOut), true), (true, Denial(.noReader), true),
            (true, Denial(.lockedUntilPassword), true), (true, Denial(.cancelled), false),
            (true, Denial(.serverRefused, subject: Bytes("policy".utf8)), false),
        ] {
            let run = try run(
                ["login", url],
                [registered(hasPasswordKey: hasKey), [.receive, .send(.denial(denial))]])
            #expect(run.errors.contains(offer) == expected, "\(run.errors)")
            #expect(run.errors.contains("signet: ") && run.code != .done, "\(run.errors)")
            #expect(run.requests.last?.content is LoginAtServerRequest)
        }
    }

    @Test("says what is wrong, and what to do")
    func refusals() throws {
        let subject = ServerURL(url).bytes
        for (denial, text, code) in [
            (Denial(.wrongPassword), "the password was wrong", ExitCode.wrongPassword),
            (
                Denial(.lockedForNow, seconds: 12), "your password is accepted again in 12 s",
                .denied
            ),
            (
                Denial(.noPasswordKey, subject: subject),
                "run 'signet enable --server \(url) --password-key'", .denied
            ),
            (
                Denial(.passwordKeyStale, subject: subject),
                "the password has changed since the key for it was made", .denied
            ),
            (Denial(.passwordElsewhere), "is not stored on this machine", .denied),
            (Denial(.passwordNotAccepted, subject: subject), "accepts only a touch", .denied),
        ] {
            let run = try run(
                ["login", url, "--password-stdin"],
                [registered(hasPasswordKey: true), asking(.denial(denial))])
            #expect(run.code == code && run.errors.contains(text), "\(run.errors)")
            #expect(run.output == "")
        }
    }

    @Test("registers, and says that it logs in, too")
    func enable() throws {
        let done = ServerEnabledAnswer(
            account: "al", application: "shop", fingerprint: Bytes("F".utf8), progress: .active,
            hasPasswordKey: true)
        let run = try run(
            ["enable", "--server", url, "--password", "--password-stdin"],
            [[.receive, .send(.done(DoneAnswer()))], asking(.serverEnabled(done))],
            input: "00000000000000000000\nright\n")
        #expect(run.code == .done, "\(run.errors)")
        #expect(run.output.contains("'signet login --password' logs in with your password"))
        let code = Bytes("00000-00000-00000-00000".utf8)
        let request = ServerEnableRequest(
            account: alice, server: ServerURL(url), code: code, factor: .password)
        #expect(run.requests.dropFirst().first == .serverEnable(request))
    }

    @Test("gets a new key with a touch and the new password, at servers that are known")
    func renewed() throws {
        let words = ["enable", "--server", url, "--password-key", "--password-stdin"]
        let done = try run(
            words,
            [
                registered(hasPasswordKey: true),
                asking(.notice(Notice(.touch)), .done(DoneAnswer())),
            ])
        #expect(done.code == .done, "\(done.errors)")
        #expect(done.errors.contains("to allow logins to \(url) with your password as well"))
        #expect(done.output.contains("your password is accepted at \(url) again"))
        #expect(
            done.requests.dropFirst().first
                == .serverPasswordKey(account: alice, server: ServerURL(url)))
        let unknown = try run(words, [[.receive, .send(.done(DoneAnswer()))]])
        #expect(unknown.code == .denied && unknown.requests.count == 1)
        for wrong in [
            ["enable", "--password"], ["enable", "--password-key"],
            ["enable", "--server", url, "--password", "--password-key"],
        ] {
            #expect(try run(wrong, []).code == .usage, "\(wrong)")
        }
    }

    @Test("approves an operation, and says which factor is missing of two")
    func operations() throws {
        let id = String(repeating: "ab", count: 16)
        for (state, words, text) in [
            (OperationState.pending, ["--password-stdin"], "also needs a touch"),
            (.pending, [], "also needs your password"),
            (.approved, ["--password-stdin"], "is approved"),
        ] {
            let decided: [Answer] = [.decided(state)]
            let wanted: [DaemonStep] =
                words.isEmpty ? [] : [.send(.passwordWanted(account: alice)), .receive]
            let run = try run(
                ["operations", "approve", id] + words,
                [
                    registered(hasPasswordKey: true),
                    [.receive, .send(.operation(Self.operation)), .send(.done(DoneAnswer()))],
                    [.receive, .send(.operation(Self.operation))] + wanted
                        + decided.map { .send($0) },
                ])
            #expect(run.code == .done && run.output.contains(text), "\(run.output)\(run.errors)")
            #expect(run.output.contains("approved by  a touch and the password"), "\(run.output)")
        }
    }
}
