// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a change of fingers for a client of the bus") struct DesktopChangeTests {
        private let account = Person.daemon.account

        private func enroll(
            _ program: BusProgram, _ account: AccountName? = nil
        ) -> DesktopEnrollRequest {
            DesktopEnrollRequest(
                client: program.name, account: account ?? self.account, finger: .leftIndex,
                readerID: nil)
        }

        private func delete(
            _ program: BusProgram, _ finger: Finger?, _ account: AccountName? = nil
        ) -> DesktopDeleteRequest {
            DesktopDeleteRequest(
                client: program.name, account: account ?? self.account, finger: finger)
        }

        @Test("adds a finger after polkit's consent, and issues the credential anew")
        func added() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let done = try fixture.enrol(program, .leftIndex, as: "two").done
            #expect(done?.finger == .leftIndex && done?.prints == 2 && done?.state == .valid)
            #expect(
                try fixture.polkit.heard() == [
                    PlayedPolkit.Check(action: PlayedPolkit.enroll, client: program.name.text)
                ])
            #expect(try fixture.daemon.login(.daemon, with: "two").assertion != nil)
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
        }

        @Test("adds the first finger, with which logins work at once")
        func first() throws {
            let fixture = try DesktopFixture(enrolled: false)
            let done = try fixture.enrol(
                try fixture.program(of: .daemon), .rightIndex, as: "one"
            ).done
            #expect(done?.prints == 1 && done?.state == .valid)
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
        }

        @Test("deletes one finger or all after polkit's consent")
        func deleted() throws {
            let fixture = try DesktopFixture()
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two", checking: true)
            let program = try fixture.program(of: .daemon)
            let one = try fixture.ask(delete(program, .rightIndex)).done
            #expect(one?.prints == 1 && one?.state == .valid)
            #expect(try fixture.daemon.login(.daemon, with: "two").assertion != nil)
            #expect(try fixture.ask(delete(program, .rightIndex)).reason == .unknownFinger)
            #expect(try fixture.ask(delete(program, nil)).done?.prints == 0)
            #expect(try fixture.ask(delete(program, nil)).reason != nil)
            #expect(try fixture.daemon.ask(.login(.daemon)).reason == .notEnrolled)
        }

        @Test(
            "is refused without polkit's consent, and by one that is kept from before",
            arguments: [PlayedPolkit.Rule.no, .error, .malformed, .kept])
        func refused(rule: PlayedPolkit.Rule) throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            try fixture.polkit.set(PlayedPolkit.enroll, rule)
            let requests: [any DaemonRequest] = [enroll(program), delete(program, nil)]
            for request in requests {
                let client = try fixture.interface()
                #expect(try client.ask(Request(request)).reason == .notPermitted)
                #expect(client.heard.count == 1, "no finger was asked for")
            }
            try fixture.polkit.end()
            for request in requests { #expect(try fixture.ask(request).reason == .notPermitted) }
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("is only for the client's own account, whatever polkit says; root's may change any")
        func own() throws {
            let fixture = try DesktopFixture()
            let other = try fixture.program(of: .games)
            #expect(try fixture.ask(enroll(other)).reason == .notPermitted)
            #expect(try fixture.ask(delete(other, nil)).reason == .notPermitted)
            #expect(try fixture.polkit.heard().isEmpty)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
            #expect(
                try fixture.enrol(try fixture.program(of: .root), .leftThumb, as: "two").done != nil
            )
        }

        @Test("cannot be authorised by a touch: polkit's helper is refused while it is asked")
        func noTouch() throws {
            let fixture = try DesktopFixture(configuration: "[login]\nothers = warn\n")
            let program = try fixture.program(of: .daemon)
            let helper = Request.login(.daemon, service: "polkit-1", tries: 1)
            // Otherwise the helper gets a touch.
            #expect(try fixture.daemon.touch(helper, with: ["one"]).assertion != nil)
            try fixture.polkit.set(PlayedPolkit.enroll, .silent)
            let client = try fixture.interface()
            try client.send(Request(enroll(program)))
            try fixture.polkit.awaitChecks(1)
            #expect(try fixture.daemon.ask(helper).reason == .passwordOnly)
            // Nobody else is concerned, and no other service of the account.
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            try fixture.polkit.awaitCancellation()
            #expect(try fixture.daemon.touch(helper, with: ["one"]).assertion != nil)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
        }

        @Test("a touch for polkit's helper that began before does not count either")
        func beganBefore() throws {
            let fixture = try DesktopFixture(configuration: "[login]\nothers = warn\n")
            let program = try fixture.program(of: .daemon)
            let helper = try fixture.daemon.client()
            try helper.send(.login(.daemon, service: "polkit-1", tries: 1))
            try helper.wait(for: .touch)
            try fixture.polkit.set(PlayedPolkit.enroll, .silent)
            let client = try fixture.interface()
            try client.send(Request(delete(program, nil)))
            try fixture.polkit.awaitChecks(1)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try helper.last().reason == .passwordOnly)
            #expect(try fixture.daemon.settledFailures() == 0)
            try fixture.polkit.proceed()
            #expect(try client.last().done?.prints == 0)
        }

        @Test("gives way to a login, as 'signet enroll' does, and keeps nothing of it")
        func cancelled() throws {
            let fixture = try DesktopFixture()
            let client = try fixture.interface()
            try client.send(Request(enroll(try fixture.program(of: .daemon))))
            try client.wait(for: .touch)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
        }
    }

    @Suite("what a client of the bus may know") struct DesktopListTests {
        private let account = Person.daemon.account

        private func fingers(
            _ fixture: DesktopFixture, _ program: BusProgram
        ) throws -> ([Finger?], DenialReason?) {
            let client = try fixture.interface()
            try client.send(Request(DesktopListRequest(client: program.name, account: account)))
            let answers = try client.rest()
            let listed = answers.compactMap { answer -> Finger? in
                if case .print(let print) = answer { print.finger } else { nil }
            }
            return (listed, answers.last?.reason)
        }

        @Test("its own fingers; those of others only with polkit's consent")
        func list() throws {
            let fixture = try DesktopFixture()
            let (own, other) = (
                try fixture.program(of: .daemon), try fixture.program(of: .games)
            )
            #expect(try fingers(fixture, own) == ([.rightIndex], nil))
            #expect(try fingers(fixture, other) == ([.rightIndex], nil))
            #expect(
                try fixture.polkit.heard().map(\.action) == [
                    PlayedPolkit.verify, PlayedPolkit.setUserName, PlayedPolkit.verify,
                ])
            try fixture.polkit.set(PlayedPolkit.setUserName, .no)
            #expect(try fingers(fixture, other) == ([], .notPermitted))
            #expect(try fingers(fixture, own) == ([.rightIndex], nil))
            // Either of the two authorities suffices.
            try fixture.polkit.set(PlayedPolkit.verify, .no)
            #expect(try fingers(fixture, own) == ([.rightIndex], nil))
            try fixture.polkit.set(PlayedPolkit.enroll, .no)
            #expect(try fingers(fixture, own) == ([], .notPermitted))
        }

        @Test("that there are none")
        func none() throws {
            let fixture = try DesktopFixture(enrolled: false)
            #expect(
                try fingers(fixture, try fixture.program(of: .daemon)) == ([], .notEnrolled))
        }

        @Test("for which account it may claim a device: its own, or one that need not exist")
        func claim() throws {
            let fixture = try DesktopFixture(enrolled: false)
            let program = try fixture.program(of: .daemon)
            func claim(_ account: AccountName?) throws -> Answer {
                try fixture.ask(DesktopClaimRequest(client: program.name, account: account))
            }
            let own = Answer.of(
                DesktopAccountAnswer(account: account, program: Bytes("gdbus".utf8)))
            #expect(try claim(nil) == own)
            #expect(try claim(account) == own)
            #expect(
                try claim("nobody-of-this-name")
                    == .of(
                        DesktopAccountAnswer(
                            account: "nobody-of-this-name", program: Bytes("gdbus".utf8))))
            try fixture.polkit.set(PlayedPolkit.setUserName, .no)
            #expect(try claim("nobody-of-this-name").reason == .notPermitted)
            #expect(try claim("root").reason == .notPermitted)
            #expect(try claim(nil) == own)
            try fixture.polkit.set(PlayedPolkit.verify, .no)
            try fixture.polkit.set(PlayedPolkit.enroll, .no)
            #expect(try claim(nil).reason == .notPermitted)
        }
    }
}
