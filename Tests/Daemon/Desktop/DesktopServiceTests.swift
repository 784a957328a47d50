// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("a touch for a client of the bus") struct DesktopVerifyTests {
        private let account = Person.daemon.account

        @Test("tells which finger matched, and leaves a receipt that is good for no login")
        func match() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let client = try fixture.verify(program)
            #expect(client.heard.first?.own(DesktopAdmittedAnswer.self)?.finger == .rightIndex)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last() == .done(DoneAnswer(finger: .rightIndex)))
            #expect(client.heard.allSatisfy { $0.assertion == nil })
            let receipts = try fixture.daemon.namespaces()
            #expect(receipts == [SignatureNamespace.desktop.bytes])
            #expect(
                try fixture.polkit.heard() == [
                    PlayedPolkit.Check(
                        action: PlayedPolkit.verify, client: program.name.text)
                ])
        }

        @Test("counts a finger that does not match, and is refused while the finger is locked")
        func mismatch() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            for count in 1...5 as ClosedRange<UInt32> {
                let client = try fixture.verify(program)
                try fixture.daemon.storage.send(.scan("stranger"))
                let reason = try client.last().reason
                #expect(reason == (count < 5 ? .noMatch : .lockedForNow))
                #expect(try fixture.daemon.settledFailures() == count)
            }
            let request = DesktopVerifyRequest(
                client: program.name, account: account, finger: nil)
            let client = try fixture.interface()
            #expect(try client.ask(Request(request)).reason == .lockedForNow)
            #expect(client.heard.count == 1, "no finger was asked for")
            #expect(try fixture.daemon.ask(.login(.daemon)).reason == .lockedForNow)
            // A success takes the failures away, as everywhere.
            try fixture.daemon.passTime(31)
            let after = try fixture.verify(program)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try after.last().done?.finger == .rightIndex)
            #expect(try fixture.daemon.settledFailures() == 0)
        }

        @Test("a poor scan is repeated, and does not count")
        func retry() throws {
            let fixture = try DesktopFixture()
            let client = try fixture.verify(try fixture.program(of: .daemon))
            try fixture.daemon.storage.send(.retry(1))
            #expect(try client.wait(for: .retry).retry == .tooShort)
            try client.wait(for: .touch)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().done?.finger == .rightIndex)
            #expect(try fixture.daemon.settledFailures() == 0)
        }

        @Test("can be for one finger, which must be enrolled")
        func oneFinger() throws {
            let fixture = try DesktopFixture()
            try fixture.daemon.enrol(.daemon, .leftIndex, as: "two", checking: true)
            let program = try fixture.program(of: .daemon)
            let client = try fixture.verify(program, finger: .leftIndex)
            #expect(client.heard.first?.own(DesktopAdmittedAnswer.self)?.finger == .leftIndex)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().reason == .noMatch)
            let any = try fixture.verify(program)
            #expect(any.heard.first?.own(DesktopAdmittedAnswer.self) == .some(.init(finger: nil)))
            try fixture.daemon.storage.send(.scan("two"))
            #expect(try any.last().done?.finger == .leftIndex)
            let request = DesktopVerifyRequest(
                client: program.name, account: account, finger: .leftThumb)
            #expect(try fixture.ask(request).reason == .unknownFinger)
        }

        @Test(
            "wants the user of signet-fprint, or root",
            arguments: [Person.daemon, .games, .sys])
        func caller(person: Person) throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let requests: [any DaemonRequest] = [
                DesktopClaimRequest(client: program.name, account: nil),
                DesktopListRequest(client: program.name, account: account),
                DesktopVerifyRequest(client: program.name, account: account, finger: nil),
                DesktopEnrollRequest(
                    client: program.name, account: account, finger: .leftThumb, readerID: nil),
                DesktopDeleteRequest(client: program.name, account: account, finger: nil),
            ]
            for request in requests {
                let answer = try fixture.daemon.client(person).ask(Request(request))
                #expect(answer.reason == .notPermitted, "\(request)")
            }
            #expect(try fixture.polkit.heard().isEmpty)
            #expect(try fixture.daemon.status(of: .daemon).prints == 1)
            // And that user may do nothing in its own name.
            #expect(try fixture.interface().ask(.list(account: account)).reason == .notPermitted)
            #expect(try fixture.interface().ask(.login(.daemon)).reason == .notPermitted)
        }

        @Test("wants a client that is on the bus")
        func unknownClient() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            try program.end()
            for name in [program.name.text, ":1.4242"] {
                let client = try #require(BusClientName(name))
                let request = DesktopVerifyRequest(
                    client: client, account: account, finger: nil)
                #expect(try fixture.ask(request).reason == .notPermitted)
            }
            #expect(try fixture.polkit.heard().isEmpty)
        }

        @Test("does not count for a client that has left while a finger was awaited")
        func gone() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let client = try fixture.verify(program)
            try program.end()
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().reason == .changedMeanwhile)
            #expect(try fixture.daemon.namespaces().isEmpty)
        }

        @Test("is for the client's own account; root's may ask for any")
        func ownAccount() throws {
            let fixture = try DesktopFixture()
            let other = try fixture.program(of: .games)
            let request = DesktopVerifyRequest(client: other.name, account: account, finger: nil)
            let answer = try fixture.ask(request)
            #expect(
                answer.reason == .otherRequester && answer.denial?.subject == Bytes("games".utf8))
            let client = try fixture.verify(try fixture.program(of: .root))
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().done != nil)
        }

        @Test("is refused to a program that is not at the machine")
        func elsewhere() throws {
            let fixture = try DesktopFixture()
            try fixture.daemon.restart {
                try DaemonFixture.write(
                    "[login]\nwithout-logind = terminals\n",
                    to: fixture.daemon.directory + "/signet.conf.d/10-tests.conf")
            }
            let program = try fixture.program(of: .daemon)
            let request = DesktopVerifyRequest(
                client: program.name, account: account, finger: nil)
            #expect(try fixture.ask(request).reason == .notAtMachine)
        }

        @Test(
            "wants polkit's consent",
            arguments: [PlayedPolkit.Rule.no, .error, .malformed])
        func refused(rule: PlayedPolkit.Rule) throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            try fixture.polkit.set(PlayedPolkit.verify, rule)
            let request = DesktopVerifyRequest(
                client: program.name, account: account, finger: nil)
            #expect(try fixture.ask(request).reason == .notPermitted)
            try fixture.polkit.end()
            #expect(try fixture.ask(request).reason == .notPermitted)
        }

        @Test("a silent polkit holds up nobody else, and is told when its answer is not wanted")
        func silent() throws {
            let fixture = try DesktopFixture()
            let program = try fixture.program(of: .daemon)
            let client = try fixture.verifyAwaitingPolkit(program)
            #expect(try fixture.daemon.login(.daemon, with: "one").assertion != nil)
            let list = DesktopListRequest(client: program.name, account: account)
            try fixture.polkit.set(PlayedPolkit.verify, .yes)
            #expect(try fixture.ask(list).done?.prints == 1)
            try client.send(.cancel)
            #expect(try client.last().reason == .cancelled)
            try fixture.polkit.awaitCancellation()
        }

        @Test("gives the reader to a login at once, and says so")
        func yields() throws {
            let fixture = try DesktopFixture()
            let client = try fixture.verify(try fixture.program(of: .daemon))
            let login = try fixture.daemon.begin()
            #expect(try client.last().reason == .enrolmentYielded)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try fixture.daemon.conclude(login).assertion != nil)
            #expect(try fixture.daemon.settledFailures() == 0)
            #expect(try fixture.daemon.namespaces() == [SignatureNamespace.login.bytes])
        }

        @Test("waits while a login has the reader")
        func waits() throws {
            let fixture = try DesktopFixture()
            let login = try fixture.daemon.begin()
            let client = try fixture.interface()
            let program = try fixture.program(of: .daemon)
            try client.send(
                Request(
                    DesktopVerifyRequest(client: program.name, account: account, finger: nil)))
            try client.wait(for: .waiting)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try fixture.daemon.conclude(login).assertion != nil)
            try client.wait(for: .touch)
            try fixture.daemon.storage.send(.scan("one"))
            #expect(try client.last().done != nil)
        }

        @Test(
            "is refused without a finger, a credential, an account, a reader or with a closed lid")
        func guards() throws {
            let fixture = try DesktopFixture(enrolled: false)
            let program = try fixture.program(of: .daemon)
            func verify(_ name: AccountName? = nil) throws -> DenialReason? {
                try fixture.ask(
                    DesktopVerifyRequest(
                        client: program.name, account: name ?? account, finger: nil)
                ).reason
            }
            #expect(try verify() == .notEnrolled)
            #expect(try verify("nobody-of-this-name") == .unknownAccount)
            try fixture.daemon.enrol(.daemon, as: "one")
            try fixture.daemon.setLid("state:      closed\n")
            #expect(try verify() == .lidClosed)
            try fixture.daemon.setLid("state:      open\n")
            #expect(try fixture.daemon.ask(.disable(account: account)).done != nil)
            #expect(try verify() == .notEnabled)
        }
    }
}
