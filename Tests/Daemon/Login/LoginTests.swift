// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import SignedFormats
import TestSupport
import Testing

extension DaemonTests {
    @Suite("login") struct LoginTests {
        @Test("a touch signs the caller's challenge, for root and for the account itself")
        func touch() throws {
            let fixture = try DaemonFixture()
            let enrolled = try #require(try fixture.enrol(.daemon, as: "one").done)
            #expect(enrolled == DoneAnswer(finger: .rightIndex, prints: 1, state: .valid))
            for person in [Person.root, .daemon] {
                let answer = try fixture.touch(
                    .login(.daemon, challenge: UInt8(person.uid), service: "i3lock"),
                    with: ["one"], client: fixture.client(person))
                let assertion = try #require(answer.assertion)
                let statement = try Statement(parsing: assertion.statement)
                #expect(statement.challenge == .sample(repeating: UInt8(person.uid)))
                #expect(statement.account == Person.daemon.account && statement.uid == 1)
                let signature = try SSHSignature(blob: assertion.signature)
                let registered = try Layout.read(fixture.publicKey(of: .daemon))
                #expect(registered.starts(with: signature.publicKey.line(comment: []).dropLast()))
            }
            #expect(fixture.threads <= 5, "an idle daemon has five threads")
        }
    }
}
