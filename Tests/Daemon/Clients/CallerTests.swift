// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Configuration
import Domain
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("callers") struct CallerTests {
        /// Every request about an account.
        private static func requests(about person: Person) -> [Request] {
            let name = person.account
            return [
                .login(person), .verify(account: name, timeoutMilliseconds: 1_000),
                .enroll(account: name, finger: .leftThumb, readerID: nil),
                .delete(account: name, finger: nil), .enable(account: name),
                .disable(account: name), .unlock(account: name), .status(account: name),
                .list(account: name), .log(LogRequest(account: name)),
                .passwordAccepted(account: name, service: "sudo"),
                .secretSet(
                    SecretSetRequest(account: name, size: 1, name: [0x61], replaces: false)),
                .secretGet(account: name, name: [0x61], timeoutMilliseconds: 1_000),
                .secretList(account: name), .secretDelete(account: name, name: [0x61]),
                .migrate(account: name, vault: Bytes("file".utf8)),
                .importPrint(account: name),
                .confirm(account: name, challenge: .sample(repeating: 1)),
                .passwordChanged(
                    account: name, service: "passwd", password: Bytes("new".utf8)),
            ]
        }

        @Test("another user may ask nothing about an account, and learns not whether it exists")
        func others() throws {
            let fixture = try DaemonFixture()
            let nobody = Person(name: "no-such-account", uid: 999_999)
            for (person, asked) in [(Person.bin, Person.daemon), (.bin, .root), (.bin, nobody)] {
                let client = try fixture.client(person)
                for request in Self.requests(about: asked) {
                    #expect(try client.ask(request) == .denial(Denial(.notPermitted)))
                }
            }
            // A user without an account has nothing to ask either.
            let stranger = try fixture.client(nobody)
            for request in Self.requests(about: nobody) {
                #expect(try stranger.ask(request) == .denial(Denial(.notPermitted)))
            }
            #expect(try fixture.client(.bin).ask(.readers).done != nil)
            #expect(try fixture.client(nobody).ask(.configuration).done != nil)
        }

        @Test("root learns of an account that does not exist, and of one that has nothing here")
        func root() throws {
            let fixture = try DaemonFixture()
            let client = try fixture.client()
            for request in Self.requests(about: Person(name: "no-such-account", uid: 1)) {
                #expect(try client.ask(request) == .denial(Denial(.unknownAccount)))
            }
            let name = Person.bin.account
            for request in [
                Request.login(.bin), .verify(account: name, timeoutMilliseconds: 1_000),
                .delete(account: name, finger: nil), .enable(account: name),
                .disable(account: name), .unlock(account: name),
                .secretGet(account: name, name: [0x61], timeoutMilliseconds: 1_000),
            ] {
                #expect(try client.ask(request) == .denial(Denial(.notEnrolled)))
            }
            #expect(try client.ask(.secretList(account: name)) == .done(DoneAnswer()))
            let status = try fixture.status(of: .bin)
            #expect(status.prints == 0 && status.state == .none && status.lock == .open)
            #expect(status.configurationFault == nil)
            #expect(try client.ask(.list(account: name)) == .done(DoneAnswer(prints: 0)))
            #expect(try client.ask(.log(LogRequest(account: name))) == .done(DoneAnswer()))
        }

        @Test("an account asks for itself")
        func account() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let client = try fixture.client(.daemon)
            let status = try #require(
                try client.ask(.status(account: Person.daemon.account)).status)
            #expect(status.prints == 1 && status.state == .valid && status.generation > 0)
            try client.send(.list(account: Person.daemon.account))
            let list = try client.rest()
            guard case .print(let print) = list.first else {
                Issue.record("\(list)")
                return
            }
            #expect(print.finger == .rightIndex && print.intact)
            #expect(list.last == .done(DoneAnswer(prints: 1)))
            let verified = try fixture.touch(
                .verify(account: Person.daemon.account, timeoutMilliseconds: 20_000), with: ["one"],
                client: client)
            #expect(verified == .done(DoneAnswer(finger: .rightIndex)))
        }

        @Test("passwordAccepted is root's alone, and lifts the lockout of that account")
        func passwordAccepted() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            _ = try fixture.login(.daemon, with: "two")
            let request = Request.passwordAccepted(
                account: Person.daemon.account, service: "sudo\n")
            #expect(try fixture.client(.daemon).ask(request) == .denial(Denial(.notPermitted)))
            #expect(try fixture.failures(of: .daemon) == 1)
            #expect(try fixture.ask(request) == .done(DoneAnswer()))
            #expect(try fixture.failures(of: .daemon) == 0)
        }

        @Test("a remote login is declined at once")
        func remote() throws {
            let fixture = try DaemonFixture()
            try fixture.enrol(.daemon, as: "one")
            let answer = try fixture.ask(.login(.daemon, remoteHost: "198.51.100.7"))
            #expect(answer == .denial(Denial(.remoteSession)))
        }

        @Test("the settings are shown as they are, and a faulty file by its line")
        func settings() throws {
            let fixture = try DaemonFixture(configuration: "[touch]\nwaiting = 3\nno-such = 1\n")
            let status = try fixture.status(of: .bin)
            let fault = String(decoding: status.configurationFault ?? [], as: UTF8.self)
            #expect(fault.hasPrefix("\(fixture.configuration):3: "))
            let client = try fixture.client(.bin)
            try client.send(.configuration)
            let answers = try client.rest()
            let waiting = SettingAnswer(
                name: Bytes("touch.waiting".utf8), value: Bytes("8".utf8),
                origin: Bytes("default".utf8))
            #expect(answers.contains(.of(waiting)), "nothing of the file holds")
            #expect(answers.count == Settings.all.count + 1)
        }
    }
}
