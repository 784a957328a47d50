// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import Glibc
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("the login password for the keyring: who receives it") struct KeyringReleaseTests {
        private static func login(
            _ service: String = "login", requester: String = "", wants: Bool = true
        ) -> Request {
            .login(.daemon, service: service, tries: 1, requester: requester, wantsKeyring: wants)
        }

        /// As `login`, for a service whose name need not be a text.
        private static func login(bytes service: ServiceName) -> Request {
            guard var request = login().content as? AuthenticateRequest else { return login() }
            request.service = service
            return .authenticate(request)
        }

        private func fixture(_ configuration: String = "") throws -> DaemonFixture {
            let fixture = try DaemonFixture.withShadow(configuration: configuration)
            try fixture.enrol(.daemon, as: "one")
            let enabled = try fixture.give().done
            #expect(enabled == DoneAnswer(prints: 1, state: .valid, keyring: .on))
            return fixture
        }

        @Test("root, for a login of the account, with a touch; each time")
        func released() throws {
            let fixture = try fixture()
            #expect(try fixture.opened(by: Self.login()) == "right")
            #expect(try fixture.opened(by: Self.login("gdm-fingerprint")) == "right")
            #expect(try fixture.opened(by: Self.login(requester: "daemon")) == "right")
            try fixture.restart()
            #expect(try fixture.keyring() == .on)
            // Only root's `enable` was checked: the shadow entry tells the rest.
            #expect(try fixture.checks() == 1)
        }

        @Test(
            "no other peer: not the account itself, not one that does not ask, not another's login")
        func callers() throws {
            let fixture = try fixture()
            let itself = try fixture.client(.daemon)
            // A service that is in both lists: COSMIC's greeter locks the screen as well.
            #expect(
                try fixture.opened(by: Self.login("cosmic-greeter"), client: itself) == nil)
            #expect(try fixture.opened(by: Self.login(wants: false)) == nil)
            #expect(try fixture.ask(Self.login(requester: "bin")).reason == .otherRequester)
            #expect(try fixture.opened(by: Self.login()) == "right")
        }

        @Test(
            "only a service that is listed, by default or by configuration, and by its very bytes")
        func services() throws {
            let fixture = try fixture()
            for service in [
                "sudo", "su", "su-l", "cron", "locker", "LOGIN", "login ", "logi",
            ] {
                #expect(try fixture.opened(by: Self.login(service)) == nil, "\(service)")
            }
            #expect(try fixture.ask(Self.login("openvpn")).reason == .notAtMachine)
            #expect(try fixture.opened(by: Self.login("sddm")) == "right")
            let other = try self.fixture("[keyring]\nservices = locker, cafe\u{301}, a\u{FFFD}\n")
            #expect(try other.opened(by: Self.login("login")) == nil)
            #expect(try other.opened(by: Self.login("gdm-password")) == nil)
            #expect(try other.opened(by: Self.login("locker")) == "right")
            // Equal to the names that are listed as texts go, and not byte for byte.
            #expect(try other.opened(by: Self.login("caf\u{E9}")) == nil)
            let none = try self.fixture("[keyring]\nservices =\n")
            #expect(try none.opened(by: Self.login()) == nil)
        }

        @Test("not a service whose name is not UTF-8, whatever is listed")
        func notUTF8() throws {
            let fixture = try fixture("[keyring]\nservices = login, a\u{FFFD}\n")
            #expect(try fixture.opened(by: Self.login(bytes: ServiceName([97, 0xFF]))) == nil)
            #expect(
                try fixture.opened(by: Self.login(bytes: ServiceName(Bytes("login".utf8) + [0xC0])))
                    == nil)
            #expect(try fixture.opened(by: Self.login(bytes: "a\u{FFFD}")) == "right")
        }

        @Test("by the default list if a file still has the old one; the rest of the file applies")
        func former() throws {
            let fixture = try fixture("[login]\nservices = !sddm\n[keyring]\nexcept = login\n")
            #expect(try fixture.status(of: .daemon).configurationFault == nil)
            #expect(try fixture.opened(by: Self.login()) == "right")
            #expect(try fixture.opened(by: Self.login("sudo")) == nil)
            #expect(try fixture.ask(Self.login("sddm")).reason == .notServed)
        }

        @Test("not a remote login, and not one whose finger did not match")
        func refusals() throws {
            let fixture = try fixture()
            let remote = Request.login(
                .daemon, service: "login", remoteHost: "elsewhere", wantsKeyring: true)
            #expect(try fixture.ask(remote).reason == .remoteSession)
            let client = try fixture.client()
            let denied = try fixture.touch(Self.login(), with: ["two"], client: client)
            #expect(denied.reason == .noMatch)
            #expect(client.heard.allSatisfy { $0.assertion == nil })
        }

        @Test("not if it was never stored, is not to be stored, or login was turned off")
        func off() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.keyring() == .off)
            #expect(try fixture.opened(by: Self.login()) == nil)
            try fixture.give()
            #expect(try fixture.keyring() == .on)
            let without = try fixture.ask(.enable(account: Person.daemon.account, keyring: false))
            #expect(without.done?.keyring == .off)
            #expect(try fixture.opened(by: Self.login()) == nil)
            try fixture.give()
            _ = try fixture.ask(.disable(account: Person.daemon.account))
            let again = try fixture.ask(.enable(account: Person.daemon.account))
            #expect(again.done == DoneAnswer(prints: 1, state: .valid))
            #expect(try fixture.opened(by: Self.login()) == nil)
            #expect(try fixture.keyring() == .off)
        }

        @Test("a wrong password is not stored, and changes nothing else")
        func wrong() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, as: "one")
            let before = try fixture.status(of: .daemon)
            for caller in [Person.root, .daemon] {
                #expect(try fixture.give("wrong", as: caller).reason == .wrongPassword)
            }
            #expect(try fixture.status(of: .daemon) == before)
        }

        @Test("no copy stays in the daemon's memory")
        func wiped() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, as: "one")
            let secret = "right-kestrel-\(getpid())-umbrella"
            try fixture.give(secret)
            for _ in 0..<3 { #expect(try fixture.opened(by: Self.login()) == secret) }
            let next = "right-osprey-\(getpid())-umbrella"
            try fixture.changeShadow()
            #expect(try fixture.report(next).done?.keyring == .on)
            #expect(try fixture.opened(by: Self.login()) == next)
            #expect(try !fixture.memoryHolds(secret))
            #expect(try !fixture.memoryHolds(next))
            #expect(try fixture.memoryHolds("signet.conf"), "the search finds what is there")
        }
    }
}
