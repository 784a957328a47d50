// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the login password for the keyring: who gets it") struct KeyringReleaseTests {
        private static func login(
            _ service: String = "login", requester: String = "", wants: Bool = true
        ) -> Request {
            .login(.daemon, service: service, tries: 1, requester: requester, wantsKeyring: wants)
        }

        /// As `login`, for a service whose name need not be a text.
        private static func login(bytes service: Bytes) -> Request {
            guard var request = login().content as? AuthenticateRequest else { return login() }
            request.service = service
            return .authenticate(request)
        }

        private func bench(_ configuration: String = "") throws -> DaemonBench {
            let bench = try DaemonBench.withShadow(configuration: configuration)
            try bench.enrol(.daemon, as: "one")
            let enabled = try bench.give().done
            #expect(enabled == DoneAnswer(prints: 1, state: .valid, keyring: .on))
            return bench
        }

        @Test("root, for a login of the account, with a touch; each time")
        func released() throws {
            let bench = try bench()
            #expect(try bench.opened(by: Self.login()) == "right")
            #expect(try bench.opened(by: Self.login("gdm-fingerprint")) == "right")
            #expect(try bench.opened(by: Self.login(requester: "daemon")) == "right")
            try bench.restart()
            #expect(try bench.keyring() == .on)
            // Only root's `enable` was checked: the shadow entry tells the rest.
            #expect(try bench.checks() == 1)
        }

        @Test("nobody else: not the account itself, not who does not ask, not another's login")
        func callers() throws {
            let bench = try bench()
            let itself = try bench.client(.daemon)
            #expect(try bench.opened(by: Self.login(), client: itself) == nil)
            #expect(try bench.opened(by: Self.login(wants: false)) == nil)
            #expect(try bench.ask(Self.login(requester: "bin")).reason == .otherRequester)
            #expect(try bench.opened(by: Self.login()) == "right")
        }

        @Test(
            "only a service that is listed, by default or by configuration, and by its very bytes")
        func services() throws {
            let bench = try bench()
            for service in [
                "sudo", "su", "su-l", "cron", "openvpn", "locker", "LOGIN", "login ",
                "logi",
            ] {
                #expect(try bench.opened(by: Self.login(service)) == nil, "\(service)")
            }
            #expect(try bench.opened(by: Self.login("sddm")) == "right")
            let other = try self.bench("[keyring]\nservices = locker, cafe\u{301}, a\u{FFFD}\n")
            #expect(try other.opened(by: Self.login("login")) == nil)
            #expect(try other.opened(by: Self.login("gdm-password")) == nil)
            #expect(try other.opened(by: Self.login("locker")) == "right")
            // Equal to the names that are listed as texts go, and not byte for byte.
            #expect(try other.opened(by: Self.login("caf\u{E9}")) == nil)
            let none = try self.bench("[keyring]\nservices =\n")
            #expect(try none.opened(by: Self.login()) == nil)
        }

        @Test("not a service whose name is not UTF-8, whatever is listed")
        func notUTF8() throws {
            let bench = try bench("[keyring]\nservices = login, a\u{FFFD}\n")
            #expect(try bench.opened(by: Self.login(bytes: [97, 0xFF])) == nil)
            #expect(try bench.opened(by: Self.login(bytes: Bytes("login".utf8) + [0xC0])) == nil)
            #expect(try bench.opened(by: Self.login(bytes: Bytes("a\u{FFFD}".utf8))) == "right")
        }

        @Test("by the default list where a file still has the old one; the rest of it holds")
        func former() throws {
            let bench = try bench("[login]\nservices = !sddm\n[keyring]\nexcept = login\n")
            #expect(try bench.status(of: .daemon).configurationFault == nil)
            #expect(try bench.opened(by: Self.login()) == "right")
            #expect(try bench.opened(by: Self.login("sudo")) == nil)
            #expect(try bench.ask(Self.login("sddm")).reason == .notServed)
        }

        @Test("not a remote login, and not one whose finger did not match")
        func refusals() throws {
            let bench = try bench()
            let remote = Request.login(
                .daemon, service: "login", remoteHost: "elsewhere", wantsKeyring: true)
            #expect(try bench.ask(remote).reason == .remoteSession)
            let client = try bench.client()
            let denied = try bench.touch(Self.login(), with: ["two"], client: client)
            #expect(denied.reason == .noMatch)
            #expect(client.heard.allSatisfy { $0.assertion == nil })
        }

        @Test("not where it was never kept, is not to be kept any more, or login was turned off")
        func off() throws {
            let bench = try DaemonBench.withShadow()
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.keyring() == .off)
            #expect(try bench.opened(by: Self.login()) == nil)
            try bench.give()
            #expect(try bench.keyring() == .on)
            let without = try bench.ask(.enable(account: Person.daemon.bytes, keyring: false))
            #expect(without.done?.keyring == .off)
            #expect(try bench.opened(by: Self.login()) == nil)
            try bench.give()
            _ = try bench.ask(.disable(account: Person.daemon.bytes))
            let again = try bench.ask(.enable(account: Person.daemon.bytes))
            #expect(again.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try bench.opened(by: Self.login()) == nil)
            #expect(try bench.keyring() == .off)
        }

        @Test("a wrong password is not kept, and nothing else is changed by it")
        func wrong() throws {
            let bench = try DaemonBench.withShadow()
            try bench.enrol(.daemon, as: "one")
            let before = try bench.status(of: .daemon)
            for caller in [Person.root, .daemon] {
                #expect(try bench.give("wrong", as: caller).reason == .wrongPassword)
            }
            #expect(try bench.status(of: .daemon) == before)
        }

        @Test("no copy stays in the daemon's memory")
        func wiped() throws {
            let bench = try DaemonBench.withShadow()
            try bench.enrol(.daemon, as: "one")
            let secret = "right-kestrel-\(getpid())-umbrella"
            try bench.give(secret)
            for _ in 0..<3 { #expect(try bench.opened(by: Self.login()) == secret) }
            let next = "right-osprey-\(getpid())-umbrella"
            try bench.changeShadow()
            #expect(try bench.report(next).done?.keyring == .on)
            #expect(try bench.opened(by: Self.login()) == next)
            #expect(try !bench.memoryHolds(secret))
            #expect(try !bench.memoryHolds(next))
            #expect(try bench.memoryHolds("signet.conf"), "the search finds what is there")
        }
    }
}
