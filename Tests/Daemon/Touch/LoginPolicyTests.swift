// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("which users have fingerprint login at all, and from where") struct LoginPolicyTests {
        private func login(
            _ person: Person, service: String = "sudo", _ presence: TerminalPosition = .foreground,
            _ background: BackgroundPolicy = .refuse
        ) -> Request {
            .authenticate(
                AuthenticateRequest(
                    account: person.account, challenge: .sample(repeating: 7),
                    service: ServiceName(service), timeoutMilliseconds: 5_000, maximumTries: 1,
                    presence: presence, background: background))
        }

        @Test("root is not served until signet.conf allows it; status and enroll say so")
        func root() throws {
            let fixture = try DaemonFixture()
            let enrolled = try #require(try fixture.enrol(.root, as: "one").done)
            #expect(enrolled.keptOut == Bytes("login.accounts".utf8) && enrolled.state == .valid)
            #expect(try fixture.status(of: .root).keptOut == Bytes("login.accounts".utf8))
            let denial = try #require(try fixture.ask(login(.root)).denial)
            #expect(denial.reason == .notServed)
            #expect(denial.subject == Bytes("login.accounts".utf8))
            try fixture.restart {
                try DaemonFixture.write("[login]\naccounts = root\n", to: fixture.configuration)
            }
            #expect(try fixture.status(of: .root).keptOut == nil)
            #expect(try fixture.touch(login(.root), with: ["one"]).assertion != nil)
            #expect(try fixture.ask(login(.daemon)).reason == .notServed)
        }

        @Test("a service or a group that is listed is excluded, and nothing else")
        func lists() throws {
            let fixture = try DaemonFixture(
                configuration: "[login]\nservices = !su\naccounts =\ngroups = !sys\n")
            try fixture.enrol(.daemon, as: "one")
            try fixture.enrol(.sys, as: "two", checking: true)
            let kept = try #require(try fixture.ask(login(.daemon, service: "su")).denial)
            #expect(kept.reason == .notServed && kept.subject == Bytes("login.services".utf8))
            #expect(try fixture.touch(login(.daemon), with: ["one"]).assertion != nil)
            // By the primary group, which group(5) does not list.
            #expect(try fixture.ask(login(.sys)).denial?.subject == Bytes("login.groups".utf8))
            #expect(try fixture.status(of: .sys).keptOut == Bytes("login.groups".utf8))
            #expect(try fixture.status(of: .daemon).keptOut == nil)
        }

        @Test(
            "an unknown group that excludes members excludes all; so does one that allows members")
        func unknownGroup() throws {
            for line in ["!no-such-group", "no-such-group"] {
                let fixture = try DaemonFixture(configuration: "[login]\ngroups = \(line)\n")
                let enrolled = try #require(try fixture.enrol(.daemon, as: "one").done)
                #expect(enrolled.keptOut == Bytes("login.groups".utf8))
                let denial = try #require(try fixture.ask(login(.daemon)).denial)
                #expect(denial.reason == .notServed)
                #expect(denial.subject == Bytes("login.groups".utf8))
            }
            let known = try DaemonFixture(configuration: "[login]\ngroups = !sys\n")
            try known.enrol(.daemon, as: "one")
            #expect(try known.touch(login(.daemon), with: ["one"]).assertion != nil)
        }

        @Test("an excluded user learns nothing else, and no attempt is counted")
        func first() throws {
            let fixture = try DaemonFixture(configuration: "[login]\nservices = login\n")
            #expect(try fixture.ask(login(.daemon)).reason == .notServed)
            try fixture.enrol(.daemon, as: "one")
            #expect(try fixture.ask(login(.daemon)).reason == .notServed)
            #expect(try fixture.status(of: .daemon).lock == .open)
            #expect(
                try fixture.touch(login(.daemon, service: "login"), with: ["one"]).assertion != nil)
        }

        // On the tests' own /run there is no logind, so no user is at a seat.
        @Test(
            "from the background, or from nowhere, no touch is asked for unless the policy says so")
        func background() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            for presence in [TerminalPosition.background, .noTerminal] {
                let denied = try fixture.ask(login(.daemon, presence))
                #expect(denied.reason == .inBackground, "\(presence)")
                for policy in [BackgroundPolicy.warn, .allow] {
                    let answer = try fixture.touch(login(.daemon, presence, policy), with: ["one"])
                    #expect(answer.assertion != nil, "\(presence) \(policy)")
                }
            }
            #expect(try fixture.touch(login(.daemon), with: ["one"]).assertion != nil)
        }
    }
}
