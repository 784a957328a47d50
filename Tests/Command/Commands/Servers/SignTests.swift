// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import Foundation
import Glibc
import LoginMessages
import LoginProtocol
import TestSupport
import Testing

private let alice: AccountName = "alice"

private func run(
    _ words: [String], _ scripts: [[DaemonStep]] = [], in scratch: Scratch? = nil,
    change: (inout CommandEnvironment) -> Void = { _ in }
) throws -> Run {
    try signet(
        ["sign"] + words + ["--account", "alice"], scripts, in: scratch, change: change)
}

/// What goes through the real daemon is in DaemonTests: here is what never comes so far.
@Suite("signet sign")
struct SignTests {
    @Test(
        "is refused if the arguments make no sense, without asking the daemon",
        arguments: [
            ([], "sign needs files, or one of --challenge, --request and --public-key"),
            (["--challenge", "x"], "--challenge also needs --audience"),
            (["--audience", "x", "file"], "--audience also needs --challenge"),
            (["--body", "x", "file"], "--body also needs --request"),
            (["--server", "https://h", "file"], "--server also needs --request"),
            (["--challenge", "x", "--audience", "y", "file"], "sign needs files, or one of"),
            (["--public-key", "file"], "sign needs files, or one of"),
            (["--public-key", "--force"], "sign needs either --public-key or --force"),
            (["--request", "GET"], "--request needs one URL"),
            (["--request", "GET", "/a", "/b"], "--request needs one URL"),
            (["x", "--request", "GET", "https://shop.example/"], "--request needs one URL"),
            (["--request", "get", "/"], "get is not an HTTP method: use one like GET"),
            (["--request", "GET\n", "/"], "GET\\x0a is not an HTTP method"),
            (["--request", "GET", "shop.example"], "is not a valid URL for an HTTP request"),
            (["--request", "GET", "https:///x"], "is not a valid URL for an HTTP request"),
            (["--request", "GET", "https://h/a b"], "is not a valid URL for an HTTP request"),
            (["--request", "GET", "https://h/\u{FC}"], "is not a valid URL for an HTTP request"),
            (["--request", "GET", "https://h/#a"], "is not a valid URL for an HTTP request"),
            (
                ["--request", "GET", "/" + String(repeating: "a", count: 1_024)],
                "is not a valid URL"
            ),
            (
                ["--challenge", String(repeating: "a", count: 1_025), "--audience", "a"],
                "--challenge takes 1 to 1024 bytes"
            ),
            (
                ["--challenge", "a", "--audience", String(repeating: "a", count: 257)],
                "--audience takes 1 to 256 bytes"
            ),
            (["-", "-"], "standard input can be signed only once"),
            (["a", "b", "a"], "a was named twice"),
            ((0..<9).map { "f\($0)" }, "one touch signs at most 8 files. Name fewer"),
            (
                [String(repeating: "a", count: 200), String(repeating: "b", count: 201)],
                "can have at most 400 bytes in total"
            ),
            ([String(repeating: "a", count: 256), "b"], "can have at most 400 bytes in total"),
        ] as [([String], String)])
    func usage(words: [String], text: String) throws {
        let run = try run(words)
        #expect(run.code == .usage && run.errors.contains(text), "\(run.errors)")
        #expect(run.requests.isEmpty && run.output == "")
    }

    @Test(
        "asks for path and query as they are sent",
        arguments: [
            ("https://h/a/b?c=%20d", "/a/b?c=%20d"), ("HTTP://h:80", "/"), ("https://h?x", "/?x"),
            ("/v1//x?", "/v1//x?"), ("https://u@h/", "/"),
        ])
    func resources(url: String, resource: String) throws {
        let server = Answer.server(sampleServer)
        let run = try run(
            ["--request", "GET", url],
            [answering(server, .done(DoneAnswer())), answering(.denial(Denial(.noMatch)))])
        guard let request = run.requests.last?.content as? SignRequest,
            case .request(let asked, let method, let found, _) = request.matter
        else {
            Issue.record("\(run.requests)")
            return
        }
        #expect(found == Bytes(resource.utf8) && method == Bytes("GET".utf8))
        #expect(asked == sampleServer.server && request.timeoutMilliseconds == 30_000)
    }

    @Test("asks which server where there are several, and takes none that was given up")
    func whichServer() throws {
        var other = sampleServer
        other.server = "https://other"
        let several = answering(.server(sampleServer), .server(other), .done(DoneAnswer()))
        let asked = try run(["--request", "GET", "/"], [several])
        #expect(asked.code == .usage && asked.errors.contains("Choose one with '--server URL'"))
        let named = try run(
            ["--request", "GET", "/", "--server", "https://Other/"],
            [answering(.denial(Denial(.noMatch)))])
        #expect(named.code == .denied && named.errors.contains("the finger did not match"))
        other.state = .removing
        let one = try run(
            ["--request", "GET", "/"],
            [
                answering(.server(other), .server(sampleServer), .done(DoneAnswer())),
                answering(.denial(Denial(.noMatch))),
            ])
        #expect(one.errors.contains("did not match"))
        let none = try run(["--request", "GET", "/"], [answering(.done(DoneAnswer()))])
        #expect(
            none.code == .denied && none.errors.contains("alice is not registered at any server"))
    }

    @Test("signs no file that cannot be read, and does not ask the daemon")
    func unreadable() throws {
        let scratch = try Scratch()
        for path in [scratch.at("none"), scratch.path] {
            let run = try run([path], in: scratch)
            #expect(run.code == .denied && run.errors.contains("\(path) cannot be read: "))
        }
    }

    @Test("signs none of several files if one cannot be read")
    func unreadableAmongOthers() throws {
        let scratch = try Scratch()
        try scratch.write("a", "text")
        let run = try run([scratch.at("a"), scratch.at("none")], in: scratch)
        #expect(run.code == .denied && run.errors.contains("/none cannot be read: "))
        #expect(run.requests.isEmpty && Layout.entries(of: scratch.path) == ["a"])
    }

    @Test("prints nothing that is not a signature over what was asked")
    func misled() throws {
        let scratch = try Scratch()
        try scratch.write("file", "text")
        for signed in [
            SignedAnswer(signature: [1, 2, 3]), SignedAnswer(statement: [1], signature: []),
        ] {
            guard (try? Answer.signed(signed).encoded()) != nil else { continue }
            let run = try run([scratch.at("file")], [answering(.signed(signed))], in: scratch)
            #expect(
                run.code == .fault && run.errors.contains("answer does not match the request"))
            #expect(!Layout.entries(of: scratch.path).contains("file.sig"))
        }
    }

    @Test("names all files below the prompt, and writes nothing but what was all signed")
    func several() throws {
        let scratch = try Scratch()
        try scratch.write("a", "text")
        try scratch.write("b\u{1B}", "other")
        let paths = [scratch.at("a"), scratch.at("b\u{1B}")]
        let touch = DaemonStep.send(.notice(Notice(.touch, scan: .swipe)))
        let signed = { (digest: Bytes) in
            DaemonStep.send(.of(SignedFileAnswer(digest: digest, signature: [1])))
        }
        var digests: [Bytes] = []
        let denied = try run(
            paths, [[.receive, touch, .send(.denial(Denial(.noMatch)))]])
        guard let request = denied.requests.last?.content as? SignRequest,
            case .files(let files) = request.matter
        else {
            Issue.record("\(denied.requests)")
            return
        }
        digests = files.map(\.digest)
        #expect(files.map(\.name) == paths.map { Bytes($0.utf8) })
        let lines = denied.errors.split(separator: "\n").map(String.init)
        #expect(lines[0] == "swipe your finger across the reader to sign these 2 files:")
        #expect(lines[1].hasPrefix("  \(scratch.at("a")) (SHA-256 982d9e3eb996f559…)"))
        #expect(lines[2].hasPrefix("  \(scratch.at("b\\x1b")) (SHA-256 "))
        #expect(denied.code == .denied && denied.errors.contains("the finger did not match"))
        // Too few, in another order, not signed, or one more.
        for steps in [
            [signed(digests[0])], [signed(digests[1]), signed(digests[0])],
            [signed(digests[0]), signed(digests[1])],
            [signed(digests[0]), signed(digests[1]), signed(digests[1])],
        ] {
            let run = try run(
                paths, [[.receive, touch] + steps + [.send(.done(DoneAnswer()))]])
            #expect(run.code == .fault, "\(run.errors)")
        }
        #expect(Layout.entries(of: scratch.path).count == 2)
    }

    @Test("says why there is no signature, and what to do")
    func denials() throws {
        let cases: [(Denial, ExitCode, String)] = [
            (Denial(.noSigningKey), .denied, "alice has no signing key. Run 'signet enable"),
            (Denial(.signingKeyInvalidated), .denied, "and give its public key to those who check"),
            (Denial(.noReader), .denied, "no usable fingerprint reader"),
            (Denial(.lockedForNow, seconds: 9), .denied, "too many failed scans"),
            (Denial(.notPermitted), .denied, "you may not do this for alice"),
        ]
        for (denial, code, text) in cases {
            for words in [["--challenge", "x", "--audience", "y"], ["--public-key"]] {
                let run = try run(words, [answering(.denial(denial))])
                #expect(run.code == code && run.errors.contains(text), "\(run.errors)")
                #expect(run.output == "")
            }
        }
        #expect(try run(["--public-key"]).code == .noService)
        let exists = try signet(
            ["enable", "--signing", "--account", "alice"],
            [answering(.denial(Denial(.signingKeyExists)))])
        #expect(
            exists.code == .denied && exists.errors.contains("'signet disable --signing' first"))
    }

    @Test("a key is shown in the two forms that others take, and in JSON")
    func publicKey() throws {
        let shown = try run(["--public-key"], [answering(.signingKey(sampleSigningKey))])
        let lines = shown.output.split(separator: "\n")
        #expect(shown.code == .done && lines.count == 2)
        #expect(lines[0].hasPrefix("ecdsa-sha2-nistp256 AAAA"))
        #expect(lines[0].hasSuffix(" signet:alice:000102030405060708090a0b0c0d0e0f"))
        #expect(lines[1] == "alice namespaces=\"file@signet,challenge@signet\" \(lines[0])")
        let document = try run(
            ["--public-key", "--json"], [answering(.signingKey(sampleSigningKey))]
        ).document("signing-key")
        #expect(document["publicKey"] as? String == String(lines[0]))
        #expect(document["allowedSigners"] as? String == String(lines[1]))
        var changed = sampleSigningKey
        changed.state = .invalidated
        let ended = try run(["--public-key"], [answering(.signingKey(changed))])
        #expect(ended.code == .denied && ended.output == "")
    }

    @Test("disable says that the key is gone")
    func disable() throws {
        let words = ["disable", "--signing", "--account", "alice"]
        let done = answering(.done(DoneAnswer(state: .disabled)))
        let plain = try signet(words, [done])
        #expect(plain.code == .done)
        #expect(
            plain.output
                == "the signing key of alice was destroyed. Existing signatures remain valid\n")
        #expect(plain.requests == [.signingDisable(account: alice)])
        _ = try signet(words + ["--json"], [done]).document("signing-disabled")
    }

    @Test("ends where it is interrupted while a long input is read")
    func interrupted() throws {
        var ends: [Int32] = [-1, -1]
        try #require(unsafe pipe(&ends) == 0)
        var signals: [Int32] = [-1, -1]
        try #require(unsafe pipe(&signals) == 0)
        defer { for number in ends + signals { close(number) } }
        try #require(unsafe write(signals[1], [1], 1) == 1)
        let (input, interrupts) = (ends[0], signals[0])
        let run = try run(["-"]) {
            $0.input = input
            $0.interrupts = interrupts
        }
        #expect(run.code == .interrupted && run.requests.isEmpty)
    }
}
