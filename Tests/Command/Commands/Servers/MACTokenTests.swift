// SPDX-License-Identifier: Apache-2.0
import Command
import CommandMessages
import CommandProtocol
import Domain
import LoginMessages
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

private let alice: AccountName = "alice"
private let shop: ServerURL = "https://id.example.org"

private func token(_ name: String, at server: ServerURL = shop) -> MACTokenAnswer {
    MACTokenAnswer(
        since: 1_795_195_440, server: server, expires: 1_797_787_440, name: Bytes(name.utf8),
        token: .sample(0..<16))
}

private func kept(_ tokens: MACTokenAnswer...) -> [DaemonStep] {
    [.receive] + tokens.map { .send(.macToken($0)) } + [.send(.done(DoneAnswer()))]
}

private func macToken(
    _ words: String..., scripts: [[DaemonStep]] = [], in scratch: Scratch? = nil
) throws -> Run {
    try signet(["mac-token"] + words + ["--account", "alice"], scripts, in: scratch)
}

@Suite("signet mac-token")
struct MACTokenTests {
    @Test("gets a token by a touch, and says what it is good for")
    func add() throws {
        let run = try macToken(
            "add", "https://ID.example.org/", "cron",
            scripts: [
                answering(
                    .notice(Notice(.touch)), .macToken(token("cron")), .done(DoneAnswer()))
            ])
        #expect(run.code == .done)
        #expect(
            run.errors
                == "touch the reader to get the MAC token cron from https://id.example.org\n")
        #expect(run.output.contains("is stored, and valid until 20 Dec 2026"))
        #expect(
            run.requests == [
                .macTokenAdd(
                    MACTokenAddRequest(
                        account: alice, timeoutMilliseconds: 30_000, server: shop,
                        name: Bytes("cron".utf8)))
            ])
    }

    @Test("lists tokens, and says so if there is none")
    func list() throws {
        let run = try macToken("list", scripts: [kept(token("a"), token("b"))])
        #expect(run.output.split(separator: "\n").count == 3)
        let json = try macToken("list", "--json", scripts: [kept(token("a"))])
        let tokens = try json.document("mac-tokens")["tokens"] as? [[String: Any]]
        #expect(tokens?.first?["token"] as? String == "000102030405060708090a0b0c0d0e0f")
        let none = try macToken("list", scripts: [kept()])
        #expect(none.code == .done && none.output.contains("alice has no MAC token"))
    }

    @Test("prints a request's header and nothing else")
    func header() throws {
        let scratch = try Scratch()
        try scratch.write("body", "{}")
        let script: [[DaemonStep]] = [
            kept(token("cron")), answering(.authorization(Bytes("SignetMAC x".utf8))),
        ]
        let run = try macToken(
            "header", "cron", "POST", "https://shop.example.org/v1/payments?x=%20", "--body",
            scratch.at("body"), scripts: script, in: scratch)
        #expect(run.code == .done && run.errors == "", "\(run.errors)")
        #expect(run.output == "Authorization: SignetMAC x\n")
        let digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        #expect(
            run.requests.last
                == .macTokenHeader(
                    MACTokenHeaderRequest(
                        account: alice, server: shop, name: Bytes("cron".utf8),
                        method: Bytes("POST".utf8), resource: Bytes("/v1/payments?x=%20".utf8),
                        bodyDigest: Hexadecimal.decode(Bytes(digest.utf8)) ?? [])))
    }

    @Test("refuses an invalid name, method or URL, without asking the daemon")
    func malformed() throws {
        let cases: [([String], String)] = [
            (["add", "http://h", "cron"], "is not the URL of a server"),
            (["add", "https://h", "a\u{1B}"], "is not a valid name for a MAC token"),
            (["add", "https://h", "signet-operations"], "gets for itself"),
            (["header", "cron", "get", "https://h/"], "is not an HTTP method"),
            (["header", "cron", "GET", "https://h/#f"], "is not a valid URL for an HTTP request"),
            (["header", "cron", "GET", "ftp://h"], "is not a valid URL for an HTTP request"),
            (["add", "https://h"], "mac-token takes add URL NAME"),
            (["header", "cron", "GET"], "mac-token takes"), (["frob"], "mac-token takes"),
            (["list", "--body", "x"], "mac-token takes"), ([], "mac-token takes"),
        ]
        for (words, text) in cases {
            let run = try signet(["mac-token"] + words + ["--account", "alice"])
            #expect(run.code == .usage && run.errors.contains(text), "\(run.errors)")
        }
    }

    @Test("requires the server if several gave a token of one name, and reports removals")
    func remove() throws {
        let other: ServerURL = "https://other.example"
        let both = kept(token("cron"), token("cron", at: other))
        let ambiguous = try macToken("remove", "cron", scripts: [both])
        #expect(
            ambiguous.code == .denied && ambiguous.errors.contains("choose one with '--server'"))
        let run = try macToken(
            "remove", "cron", "--server", "https://other.example",
            scripts: [both, answering(.done(DoneAnswer()))])
        #expect(
            run.code == .done && run.output.contains("was revoked and is no longer accepted"),
            "\(run.output)")
        #expect(
            run.requests.last
                == .macTokenRemove(account: alice, server: other, name: Bytes("cron".utf8)))
        let later = try macToken(
            "remove", "cron",
            scripts: [
                kept(token("cron")),
                answering(.done(DoneAnswer(state: CredentialState.disabled))),
            ])
        #expect(later.code == .done && later.output.contains("could not be informed"))
        let json = try macToken(
            "remove", "cron", "--json",
            scripts: [kept(token("cron")), answering(.done(DoneAnswer(state: .disabled)))])
        #expect(try json.document("mac-token-removed")["serverKnows"] as? Bool == false)
        let unknown = try macToken("remove", "x", scripts: [kept(token("cron"))])
        #expect(unknown.code == .denied && unknown.errors.contains("no valid MAC token x"))
    }
}
