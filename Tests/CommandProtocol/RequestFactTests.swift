// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import FrameSamples
import LoginProtocol
import TestSupport
import Testing

@Suite("What others need to know of a request")
struct RequestFactTests {
    private static let alice: AccountName = "alice"
    private static let server: ServerURL = "https://h"
    private static let id = OperationID.sample(repeating: 0xAB)
    private static let digest = Bytes(repeating: 0xCD, count: 32)

    private static func bytes(_ text: String) -> Bytes { Bytes(text.utf8) }

    private static let hex = String(repeating: "cd", count: 32)
    private static let operation = String(repeating: "ab", count: 16)

    private func sign(_ matter: SigningMatter) -> Request {
        .sign(SignRequest(account: Self.alice, timeoutMilliseconds: 1, matter: matter))
    }

    private func decide(_ choice: OperationChoice) -> Request {
        .operationDecide(
            OperationDecideRequest(
                account: Self.alice, timeoutMilliseconds: 1, server: Self.server,
                operation: Self.id, decision: choice))
    }

    private func end(_ session: SessionID?) -> Request {
        .sessionEnd(
            SessionEndRequest(
                account: Self.alice, timeoutMilliseconds: 1, server: Self.server, session: session))
    }

    private var header: Request {
        .macTokenHeader(
            MACTokenHeaderRequest(
                account: Self.alice, server: Self.server, name: Self.bytes("cron"), method: [1],
                resource: [1], bodyDigest: Self.digest))
    }

    @Test("the journal and receipts show its purpose, and no contents")
    func purposes() {
        let (alice, server) = (Self.alice, Self.server)
        let name = Self.bytes("mail")
        let code = Self.bytes("K7MDQ")
        let token = "server https://h: MAC token cron"
        let files = ["a", ""].map { FileDigest(name: Self.bytes($0), digest: Self.digest) }
        let expected: [(Request, String)] = [
            (
                .secretSet(SecretSetRequest(account: alice, size: 1, name: name, replaces: false)),
                "secret mail"
            ),
            (.secretGet(account: alice, name: name, timeoutMilliseconds: 1), "secret mail"),
            (.secretDelete(account: alice, name: name), "secret mail"),
            (
                .serverEnable(ServerEnableRequest(account: alice, server: server, code: code)),
                "https://h"
            ),
            (.serverDisable(account: alice, server: server), "https://h"),
            (.serverLogin(account: alice, server: server, timeoutMilliseconds: 1), "https://h"),
            (.serverPasswordKey(account: alice, server: server), "https://h"),
            (.macTokenRemove(account: alice, server: server, name: Self.bytes("cron")), token),
            (header, token),
            (decide(.approve), "approve operation \(Self.operation)"),
            (decide(.reject), "reject operation \(Self.operation)"),
            (end(.sample(repeating: 7)), "end session \(String(repeating: "07", count: 16))"),
            (end(nil), "end all sessions"),
            (sign(.file(name: [], digest: Self.digest)), "sign file sha256:\(Self.hex)"),
            (sign(.file(name: [0x61], digest: Self.digest)), "sign file sha256:\(Self.hex) a"),
            (
                sign(.files(files)),
                "sign 2 files sha256:\(Self.hex) sha256:\(Self.hex) a -"
            ),
            (sign(.challenge(audience: Audience([0x62]), text: [0x63])), "sign challenge for b: c"),
            (
                sign(
                    .request(
                        server: server, method: Self.bytes("GET"), resource: Self.bytes("/x"),
                        body: Self.digest)), "server https://h: sign GET /x"
            ),
            (.verify(account: alice, timeoutMilliseconds: 1, reason: [0x64]), "d"),
            (.verify(account: alice, timeoutMilliseconds: 1), ""),
            (.passwordChanged(account: alice, service: ServiceName([0x73]), password: [0x70]), ""),
            (.password([0x70]), ""), (.secretPart([0x70]), ""), (.list(account: alice), ""),
        ]
        for (request, purpose) in expected {
            let context = request.content.context
            #expect(String(decoding: context.purpose, as: UTF8.self) == purpose)
            #expect(context.service.isEmpty && context.terminal.isEmpty)
            #expect(context.presence == nil && context.server.isEmpty)
        }
        let long = SigningMatter.file(
            name: Bytes(repeating: 0x61, count: Limit.fileName), digest: Self.digest)
        #expect(long.purpose.count == Limit.purpose && !long.isShownWhole)
    }

    @Test("of a login, the journal shows all that the module reports about it")
    func login() {
        let request = AuthenticateRequest(
            account: Self.alice, challenge: .sample(repeating: 0xCD), service: ServiceName([1]),
            terminal: [2],
            remoteHost: [3], requester: AccountName([4]), purpose: [5], timeoutMilliseconds: 1,
            maximumTries: 1,
            presence: .noTerminal,
            server: ServerLoginRequest(url: ServerURL([6]), audience: Audience([7]), key: .zero))
        let context = request.context
        #expect(
            context.service == ServiceName([1]) && context.terminal == [2] && context.purpose == [5]
        )
        #expect(context.presence == .noTerminal && context.server == ServerURL([6]))
    }

    @Test("the commands that ask for a touch have names, in the queue and in the log")
    func commands() {
        for expected in SampleFrames.expectations {
            #expect(expected.type.command == expected.command)
            #expect(expected.type.loggedCommand == expected.loggedCommand)
        }
    }

    @Test("the journal has room for every decision but those of polling, and for no offer")
    func logging() {
        for expected in SampleFrames.expectations {
            #expect(expected.type.logging == expected.logging)
        }
    }

    @Test("after an interruption, some say how to find out what a server has done")
    func interruptions() {
        let (alice, server) = (Self.alice, Self.server)
        let login = Request.serverLogin(account: alice, server: server, timeoutMilliseconds: 1)
        #expect(login.content.interruption == .unknown)
        let renewal = Request.serverPasswordKey(account: alice, server: server)
        #expect(renewal.content.interruption == .unknown)
        let gone = Request.serverDisable(account: alice, server: server)
        #expect(gone.content.interruption == .shown(by: "login"))
        let ended = Request.macTokenRemove(account: alice, server: server, name: [1])
        #expect(ended.content.interruption == .shown(by: "mac-token list"))
        #expect(
            decide(.approve).content.interruption
                == .shown(by: "operations show \(Self.operation)"))
        #expect(end(nil).content.interruption == .shown(by: "sessions"))
        #expect(header.content.interruption == .none)
        #expect(Request.enable(account: alice).content.interruption == .none)
    }
}
