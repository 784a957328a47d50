// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

extension SecondDaemonTests {
    /// What a server's policy would refuse after the touch is refused before it: the daemon, its
    /// relay and the server are real.
    @Suite("A server's policy that this device does not fulfil")
    struct PolicyBeforeTouchTests {
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
            try boot(securely: false)
        }

        @Test("stops a registration before the touch, and leaves the activation code valid")
        func registration() async throws {
            let stage = try await stage()
            let code = try stage.server.code()
            let request = Request.serverEnable(
                ServerEnableRequest(
                    account: Person.daemon.account, server: stage.url, code: Bytes(code.utf8)))
            for (words, expected) in Self.policies(at: stage) {
                try stage.server.administer(["application", "set", "shop"] + words)
                // Root, who need not give the account's password.
                #expect(
                    try untouched(request, at: stage, as: .root) == expected, "\(words)")
                try stage.server.administer(["application", "set", "shop"] + Self.nothing)
            }
            #expect(try stage.enable(code: code).enabled != nil)
        }

        @Test("stops a login of 'signet login' and a MAC token before the touch")
        func login() async throws {
            let stage = try await stage()
            #expect(try stage.enable().enabled != nil)
            let token = Request.macTokenAdd(
                MACTokenAddRequest(
                    account: Person.daemon.account, timeoutMilliseconds: 20_000, server: stage.url,
                    name: Bytes("ci".utf8)))
            for (words, expected) in Self.policies(at: stage) {
                try stage.server.administer(["application", "set", "shop"] + words)
                #expect(try untouched(stage.login(), at: stage) == expected, "\(words)")
                #expect(try untouched(token, at: stage) == expected, "\(words)")
                try stage.server.administer(["application", "set", "shop"] + Self.nothing)
                #expect(try stage.logIn().token != nil)
            }
        }

        @Test("is fulfilled by a machine that has booted with Secure Boot, and only while it has")
        func secureBoot() async throws {
            let stage = try await stage()
            try stage.server.administer("application", "set", "shop", "--secure-boot", "on")
            try boot(securely: true)
            #expect(try stage.enable().enabled != nil)
            #expect(try stage.logIn().token != nil)
            try boot(securely: false)
            let denied = Denial(.serverRefused, subject: Bytes("policy-secure-boot".utf8))
            #expect(try untouched(stage.login(), at: stage) == denied)
        }

        @Test("stops a PAM login before the touch, and ends the earlier approval")
        func module() async throws {
            let stage = try await stage()
            #expect(
                try stage.enable(code: stage.server.code(for: "daemon")).enabled != nil)
            let login = Request.authenticate(
                AuthenticateRequest(
                    account: Person.daemon.account, challenge: .sample(repeating: 7),
                    service: "login", terminal: Bytes("/dev/tty1".utf8),
                    timeoutMilliseconds: 20_000, maximumTries: 2, background: .allow,
                    server: ServerLoginRequest(
                        url: stage.url, audience: Audience("\(stage.server.url)/shop"),
                        key: stage.verdictKey, offlineHours: 720)))
            func logIn() throws -> Answer {
                try stage.daemon.touchEach(login, with: "one", client: stage.daemon.client(.root))
            }
            #expect(try logIn().assertion != nil)
            #expect(stage.files().contains { $0.hasSuffix(".verdict") })
            try stage.server.administer("application", "set", "shop", "--biometrics", "no")
            // Logins have no password to offer.
            try stage.server.administer("application", "set", "shop", "--passwords", "yes")
            let denied = Denial(.serverRefused, subject: Bytes("policy-factor".utf8))
            #expect(try untouched(login, at: stage, as: .root) == denied)
            #expect(!stage.files().contains { $0.hasSuffix(".verdict") })
            try stage.cutNetwork()
            let cut = try untouched(login, at: stage, as: .root)
            #expect(cut?.reason == .serverTooLongAgo)
        }

        /// Options of `application set` that this machine does not fulfil, and the denial.
        private static func policies(at stage: ServerFixture) -> [([String], Denial)] {
            func refused(_ code: String) -> Denial {
                Denial(.serverRefused, subject: Bytes(code.utf8))
            }
            return [
                (["--keys", "tpm"], refused("policy-keys")),
                (["--secure-boot", "on"], refused("policy-secure-boot")),
                (["--biometrics", "no"], refused("policy-factor")),
                (
                    ["--biometrics", "no", "--passwords", "yes"],
                    Denial(.fingerNotAccepted, subject: stage.url.bytes)
                ),
            ]
        }

        private static let nothing = [
            "--keys", "any", "--secure-boot", "any", "--biometrics", "yes", "--passwords", "no",
        ]

        /// The denial of a request that no finger is asked for.
        private func untouched(
            _ request: Request, at stage: ServerFixture, as person: Person = .daemon
        ) throws -> Denial? {
            let client = try stage.daemon.client(person)
            let answer = try client.ask(request)
            #expect(client.heard.allSatisfy { $0.notice?.kind != .touch })
            return answer.denial
        }

        /// What firmware says: four bytes of attributes, and the value.
        private func boot(securely isSecure: Bool) throws {
            try scratch.write("SecureBoot", [6, 0, 0, 0, isSecure ? 1 : 0])
        }

        /// A machine with keys in files.
        private func stage() async throws -> ServerFixture {
            try ServerFixture(
                try await LiveServer.start(), configuration: "[vault]\nkind = file\n",
                arguments: ["--secure-boot", scratch.at("SecureBoot")], keeping: scratch)
        }
    }
}
