// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Glibc
import LoginProtocol
import State
import TestSupport
import Testing

extension DaemonTests {
    @Suite("badges") struct BadgeTests {
        private let fixture: DaemonFixture

        /// An account with two fingers and a badge.
        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            try fixture.enrol(.daemon, .leftIndex, as: "one")
            try fixture.restart {
                let kept = try fixture.kept(.daemon)
                try kept.badges.give("gold", to: try kept.prints.enrolment().state)
            }
        }

        private var badges: [String] { Layout.entries(of: fixture.file("badges", of: .daemon)) }

        @Test("stay as long as the fingers do")
        func kept() throws {
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            try fixture.restart()
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(badges == ["gold"])
        }

        @Test("end with a change of fingers")
        func changed() throws {
            let delete = Request.delete(account: Person.daemon.account, finger: .leftIndex)
            #expect(try fixture.ask(delete).done != nil)
            #expect(badges == [])
        }

        @Test("end with the credential, when the fingers have changed behind the daemon's back")
        func destroyed() throws {
            try fixture.restart {
                _ = unsafe unlink(try #require(fixture.prints(of: .daemon).first))
            }
            #expect(try fixture.ask(.login(.daemon)).denial?.reason == .invalidated)
            #expect(badges == [])
        }

        @Test("go with the account, and what was half written goes when the daemon starts")
        func removed() throws {
            let half = fixture.file("badges", of: .daemon) + "/.new-1-a"
            try fixture.restart { try DaemonFixture.write("gold", to: half) }
            #expect(!Layout.entries(of: fixture.file("badges", of: .daemon)).contains(".new-1-a"))
            try fixture.restart {
                let state = try StateDirectory.open(fixture.state)
                try state.removeAccount(uid: Person.daemon.uid)
            }
            #expect(badges == [])
        }
    }
}
