// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("who has fingerprint login at all, and from where") struct LoginPolicyTests {
        private func login(
            _ person: Person, service: String = "sudo", _ presence: TerminalPosition = .foreground,
            _ background: BackgroundPolicy = .refuse
        ) -> Request {
            .authenticate(
                AuthenticateRequest(
                    account: person.bytes, challenge: Bytes(repeating: 7, count: 32),
                    service: Bytes(service.utf8), timeoutMilliseconds: 5_000, maximumTries: 1,
                    presence: presence, background: background))
        }

        @Test("root is not served until signet.conf says so, and is told by status and enroll")
        func root() throws {
            let bench = try DaemonBench()
            let enrolled = try #require(try bench.enrol(.root, as: "one").done)
            #expect(enrolled.keptOut == Bytes("login.accounts".utf8) && enrolled.state == .valid)
            #expect(try bench.status(of: .root).keptOut == Bytes("login.accounts".utf8))
            let denial = try #require(try bench.ask(login(.root)).denial)
            #expect(denial.reason == .notServed)
            #expect(denial.subject == Bytes("login.accounts".utf8))
            try bench.restart {
                try DaemonBench.write("[login]\naccounts = root\n", to: bench.configuration)
            }
            #expect(try bench.status(of: .root).keptOut == nil)
            #expect(try bench.touch(login(.root), with: ["one"]).assertion != nil)
            #expect(try bench.ask(login(.daemon)).reason == .notServed)
        }

        @Test("a service or a group that is listed is kept out, and nothing else")
        func lists() throws {
            let bench = try DaemonBench(
                configuration: "[login]\nservices = !su\naccounts =\ngroups = !sys\n")
            try bench.enrol(.daemon, as: "one")
            try bench.enrol(.sys, as: "two", checking: true)
            let kept = try #require(try bench.ask(login(.daemon, service: "su")).denial)
            #expect(kept.reason == .notServed && kept.subject == Bytes("login.services".utf8))
            #expect(try bench.touch(login(.daemon), with: ["one"]).assertion != nil)
            // By the primary group, which group(5) does not list.
            #expect(try bench.ask(login(.sys)).denial?.subject == Bytes("login.groups".utf8))
            #expect(try bench.status(of: .sys).keptOut == Bytes("login.groups".utf8))
            #expect(try bench.status(of: .daemon).keptOut == nil)
        }

        @Test("a group that keeps out and that nobody knows keeps all out; one that lets in, too")
        func unknownGroup() throws {
            for line in ["!no-such-group", "no-such-group"] {
                let bench = try DaemonBench(configuration: "[login]\ngroups = \(line)\n")
                let enrolled = try #require(try bench.enrol(.daemon, as: "one").done)
                #expect(enrolled.keptOut == Bytes("login.groups".utf8))
                let denial = try #require(try bench.ask(login(.daemon)).denial)
                #expect(denial.reason == .notServed)
                #expect(denial.subject == Bytes("login.groups".utf8))
            }
            let known = try DaemonBench(configuration: "[login]\ngroups = !sys\n")
            try known.enrol(.daemon, as: "one")
            #expect(try known.touch(login(.daemon), with: ["one"]).assertion != nil)
        }

        @Test("who is kept out is told nothing else, and no attempt is counted")
        func first() throws {
            let bench = try DaemonBench(configuration: "[login]\nservices = login\n")
            #expect(try bench.ask(login(.daemon)).reason == .notServed)
            try bench.enrol(.daemon, as: "one")
            #expect(try bench.ask(login(.daemon)).reason == .notServed)
            #expect(try bench.status(of: .daemon).lock == .open)
            #expect(
                try bench.touch(login(.daemon, service: "login"), with: ["one"]).assertion != nil)
        }

        // On the tests' own /run there is no logind, so nobody is at a seat.
        @Test(
            "from the background, or from nowhere, no touch is asked for unless the policy says so")
        func background() throws {
            let bench = try DaemonBench()
            try bench.enrol(.daemon, as: "one")
            for presence in [TerminalPosition.background, .noTerminal] {
                let denied = try bench.ask(login(.daemon, presence))
                #expect(denied.reason == .inBackground, "\(presence)")
                for policy in [BackgroundPolicy.warn, .allow] {
                    let answer = try bench.touch(login(.daemon, presence, policy), with: ["one"])
                    #expect(answer.assertion != nil, "\(presence) \(policy)")
                }
            }
            #expect(try bench.touch(login(.daemon), with: ["one"]).assertion != nil)
        }
    }
}
