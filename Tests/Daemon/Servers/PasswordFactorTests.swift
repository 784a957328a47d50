// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import Foundation
import Glibc
import LoginProtocol
import RelyingPartySupport
import SignedFormats
import TestSupport
import Testing

/// A daemon, and a server that accepts passwords, at which `daemon` is registered with one.
private struct PasswordFixture {
    let servers: ServerFixture
    var daemon: DaemonFixture { servers.daemon }
    var server: LiveServer { servers.server }

    init(registers: Bool = true) async throws {
        let server = try await LiveServer.start()
        try server.administer("application", "set", "shop", "--passwords", "yes")
        servers = try ServerFixture(server, shadow: true)
        if registers { #expect(try enable().enabled?.hasPasswordKey == true) }
    }

    /// Makes a request as `daemon`; gives the password where it is wanted, and touches.
    func ask(
        _ request: Request, password: String = "right", finger: String? = nil,
        as person: Person = .daemon
    ) throws -> (answer: Answer, asked: Int, touches: Int) {
        let client = try daemon.client(person)
        try client.send(request)
        var (asked, touches) = (0, 0)
        while let answer = try client.next() {
            if answer.isLast { return (answer, asked, touches) }
            if case .passwordWanted = answer {
                asked += 1
                try client.send(.password(Bytes(password.utf8)))
            }
            if answer.notice?.kind == .touch {
                touches += 1
                let finger = try #require(finger, "a touch is wanted")
                try daemon.person(at: nil).send(.scan(finger))
            }
        }
        throw ClientFault.ended(client.heard)
    }

    func enable(
        by factor: ConfirmingFactor = .finger, finger: String? = "one", password: String = "right"
    ) throws -> Answer {
        let code = Bytes(try server.code().utf8)
        let request = ServerEnableRequest(
            account: Person.daemon.account, server: servers.url, code: code, factor: factor)
        return try ask(.serverEnable(request), password: password, finger: finger).answer
    }

    var login: Request {
        .serverLogin(
            account: Person.daemon.account, server: servers.url, timeoutMilliseconds: 20_000,
            factor: .password)
    }

    /// Logs in with a password.
    func logIn(_ password: String = "right") throws -> Answer {
        try ask(login, password: password).answer
    }

    /// Makes a new key for the password.
    func renew(_ password: String = "right", finger: String? = "one") throws -> Answer {
        try ask(
            .serverPasswordKey(account: Person.daemon.account, server: servers.url),
            password: password, finger: finger
        ).answer
    }

    func deciding(
        _ id: String, by factor: ConfirmingFactor, _ choice: OperationChoice = .approve
    ) throws -> Request {
        .operationDecide(
            OperationDecideRequest(
                account: Person.daemon.account, timeoutMilliseconds: 20_000, server: servers.url,
                operation: try #require(OperationID(hexadecimal: Bytes(id.utf8))),
                decision: choice, factor: factor))
    }

    /// The authentication methods in an access token.
    func methods(_ answer: Answer) throws -> [String] {
        let token = try #require(answer.token, "\(answer)")
        let part = try #require(
            token.accessToken.split(separator: UInt8(ascii: ".")).dropFirst().first)
        let claims = try #require(Base64.decode(Bytes(part), alphabet: .url))
        let object = try JSONSerialization.jsonObject(with: Data(claims)) as? [String: Any]
        return object?["amr"] as? [String] ?? []
    }
}

extension DaemonTests {
    @Suite("the password in place of a finger") struct PasswordFactorTests {
        @Test("logs in at the server, which says so; no finger is asked for")
        func login() async throws {
            let one = try await PasswordFixture()
            let (answer, asked, touches) = try one.ask(one.login)
            #expect(try one.methods(answer) == ["pwd", "swk"])
            #expect(asked == 1 && touches == 0)
            #expect(try one.servers.list().map(\.hasPasswordKey) == [true])
            // The finger goes on as before, and shares the counter with the password.
            let touched = try one.servers.logIn()
            #expect(try one.methods(touched) == ["fpt", "swk"])
            #expect(try one.methods(try one.logIn()) == ["pwd", "swk"])
            try one.daemon.restart()
            #expect(try one.methods(try one.logIn()) == ["pwd", "swk"])
        }

        @Test("a wrong password counts like a finger, and both reach one pause together")
        func counted() async throws {
            let one = try await PasswordFixture()
            let verify = Request.verify(
                account: Person.daemon.account, timeoutMilliseconds: 20_000)
            for round in 1...4 {
                if round % 2 == 0 {
                    #expect(try one.daemon.touch(verify, with: ["two"]).reason == .noMatch)
                } else {
                    #expect(try one.logIn("wrong").reason == .wrongPassword)
                }
                #expect(try one.daemon.failures(of: .daemon) == UInt32(round))
            }
            #expect(try one.logIn("wrong").reason == .lockedForNow)
            // Neither is asked for now, also after a restart.
            for again in [false, true] {
                if again { try one.daemon.restart() }
                let (answer, asked, _) = try one.ask(one.login)
                #expect(answer.reason == .lockedForNow && asked == 0)
                #expect(try one.daemon.ask(verify).reason == .lockedForNow)
            }
            try one.daemon.passTime(30)
            #expect(try one.logIn().token != nil)
            #expect(try one.daemon.failures(of: .daemon) == 0)
        }

        @Test("is accepted where only it unlocks the finger, once in each pause, and unlocks it")
        func locked() async throws {
            let one = try await PasswordFixture()
            try DaemonFixture.write(
                "signet-lockout: 1\nfailures: 20\n",
                to: one.daemon.file("lockout", of: .daemon), mode: 0o600)
            #expect(try one.servers.logIn().reason == .lockedUntilPassword)
            #expect(try one.logIn("wrong").reason == .lockedForNow)
            #expect(try one.logIn().reason == .lockedForNow)
            try one.daemon.passTime(30)
            #expect(try one.logIn().token != nil)
            #expect(try one.servers.logIn().token != nil)
        }

        @Test("a check that fails, and a client that gives none, count nothing")
        func uncounted() async throws {
            let one = try await PasswordFixture()
            #expect(try one.logIn("crash").reason == .passwordCheckFailed)
            #expect(try one.logIn("outdated").reason == .passwordExpired)
            let client = try one.daemon.client(.daemon)
            try client.send(one.login)
            #expect(try client.isAskedPassword(of: Person.daemon.account))
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try one.daemon.failures(of: .daemon) == 0)
        }

        @Test("after the password was changed its key opens no more, until a touch renews it")
        func changed() async throws {
            let one = try await PasswordFixture()
            try one.daemon.changeShadow(hash: "$6$salt$new")
            let stale = Denial(.passwordKeyStale, subject: one.servers.url.bytes)
            #expect(try one.logIn() == .denial(stale))
            #expect(try one.servers.logIn().token != nil, "the finger's key is as it was")
            #expect(try one.renew("wrong").reason == .wrongPassword)
            #expect(try one.logIn() == .denial(stale))
            #expect(try one.renew() == .done(DoneAnswer()))
            #expect(try one.methods(try one.logIn()) == ["pwd", "swk"])
            // The same password again, as if set anew, is another one.
            try one.daemon.changeShadow(hash: "$6$salt$new", day: 20_001)
            #expect(try one.logIn() == .denial(stale))
        }

        @Test("a key that was altered on disk opens nothing, and the finger's key stays")
        func altered() async throws {
            let one = try await PasswordFixture()
            let name = try #require(one.servers.files().first)
            let path = one.daemon.file("servers/\(name)", of: .daemon)
            let text = String(decoding: try Layout.read(path), as: UTF8.self)
            let start = try #require(text.range(of: "password-key: ")).upperBound
            var bytes = Bytes(text.utf8)
            let place = text.utf8.distance(from: text.utf8.startIndex, to: start) + 40
            bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            try DaemonFixture.write(bytes, to: path)
            #expect(try one.logIn().reason == .passwordKeyStale)
            #expect(try one.servers.logIn().token != nil)
        }

        @Test("without a key for it, no password is asked for; a touch and the password make one")
        func withoutKey() async throws {
            let one = try await PasswordFixture(registers: false)
            // Root gives no password.
            #expect(try one.servers.enable().enabled?.hasPasswordKey == false)
            let (answer, asked, _) = try one.ask(one.login)
            let none = Denial(.noPasswordKey, subject: one.servers.url.bytes)
            #expect(answer == .denial(none) && asked == 0)
            #expect(try one.servers.logIn().token != nil)
            #expect(try one.renew() == .done(DoneAnswer()))
            #expect(try one.logIn().token != nil)
        }

        @Test("registers the device where a finger is hurt, with keys for both")
        func registers() async throws {
            let one = try await PasswordFixture(registers: false)
            #expect(
                try one.enable(by: .password, finger: nil, password: "wrong").reason
                    == .wrongPassword)
            #expect(try one.daemon.failures(of: .daemon) == 1)
            let enabled = try one.enable(by: .password, finger: nil).enabled
            #expect(enabled?.hasPasswordKey == true && enabled?.progress == .active)
            #expect(try one.logIn().token != nil)
            #expect(try one.servers.logIn().token != nil)
        }

        @Test("is no way to a server that accepts only touches")
        func notAccepted() async throws {
            let one = try await PasswordFixture()
            try one.server.administer("application", "set", "shop", "--passwords", "no")
            let (denied, asked, _) = try one.ask(one.login)
            let none = Denial(.passwordNotAccepted, subject: one.servers.url.bytes)
            #expect(denied == .denial(none) && asked == 0)
            let policy = Denial(.serverRefused, subject: Bytes("policy-factor".utf8))
            #expect(try one.renew(finger: nil) == .denial(policy))
            #expect(try one.servers.logIn().token != nil)
            let disabled = try one.ask(
                .serverDisable(account: Person.daemon.account, server: one.servers.url)
            ).answer
            #expect(disabled.done != nil, "\(disabled)")
            #expect(try one.enable(by: .password, finger: nil).reason == .passwordNotAccepted)
            #expect(try one.enable().enabled?.hasPasswordKey == false)
        }

        @Test("is no key of an account whose password this machine does not store")
        func elsewhere() async throws {
            let one = try await PasswordFixture(registers: false)
            try one.daemon.changeShadow(hash: "x")
            #expect(try one.enable().enabled?.hasPasswordKey == false)
            #expect(try one.renew().reason == .passwordElsewhere)
        }

        @Test("ends with the finger's key when the fingers change")
        func fingers() async throws {
            let one = try await PasswordFixture()
            try one.daemon.enrol(.daemon, .leftThumb, as: "two")
            let (answer, asked, _) = try one.ask(one.login)
            #expect(answer.reason == .serverKeyInvalidated && asked == 0)
            #expect(try one.servers.list().map(\.hasPasswordKey) == [false])
        }

        @Test("is not for root, and not for another account")
        func callers() async throws {
            let one = try await PasswordFixture()
            for person in [Person.root, .bin] {
                let (answer, asked, _) = try one.ask(one.login, as: person)
                #expect(answer.reason == .notPermitted && asked == 0)
            }
        }

        @Test("lets operations be read, and approves those that accept it")
        func operations() async throws {
            let one = try await PasswordFixture()
            try one.server.makeTemplate()
            let id = try one.server.pay("10")
            // Once for the token that reads them, and once for the decision.
            let (answer, asked, touches) = try one.ask(try one.deciding(id, by: .password))
            #expect(answer == .decided(.approved))
            #expect(asked == 2 && touches == 0)
            let state = try one.server.ask("GET", "/v1/operations/\(id)")
            #expect(state["factor"] as? String == "password")
        }

        @Test("says before it is asked for that an operation does not accept it, or needs it")
        func otherFactors() async throws {
            let one = try await PasswordFixture()
            try one.server.administer(
                "template", "add", "shop", "payment", "pay {amount} EUR to {payee}", "--factors",
                "fingerprint")
            let touched = try one.server.pay("10")
            let (refused, asked, _) = try one.ask(try one.deciding(touched, by: .password))
            #expect(refused.reason == .passwordNotAccepted && asked == 1, "for reading it")
            try one.server.administer("template", "remove", "shop", "payment")
            try one.server.administer(
                "template", "add", "shop", "payment", "pay {amount} EUR to {payee}", "--factors",
                "password")
            let typed = try one.server.pay("11")
            let finger = try one.ask(try one.deciding(typed, by: .finger), finger: "one")
            #expect(finger.answer.reason == .fingerNotAccepted && finger.touches == 0)
            #expect(
                try one.ask(try one.deciding(typed, by: .password)).answer == .decided(.approved))
        }

        @Test("approves together with a finger where an operation requires both")
        func both() async throws {
            let one = try await PasswordFixture()
            try one.server.administer(
                "template", "add", "shop", "payment", "pay {amount} EUR to {payee}", "--factors",
                "both")
            let id = try one.server.pay("10")
            #expect(try one.ask(try one.deciding(id, by: .password)).answer == .decided(.pending))
            #expect(try one.server.status(of: id) == "PENDING")
            let shown = try one.servers.asking(one.servers.showing(id)).compactMap(\.operation)
            #expect(shown.first?.factors == .both && shown.first?.missing == .finger)
            let touched = try one.ask(try one.deciding(id, by: .finger), finger: "one")
            #expect(touched.answer == .decided(.approved))
            let state = try one.server.ask("GET", "/v1/operations/\(id)")
            #expect(state["factor"] as? String == "both")
        }
    }
}
