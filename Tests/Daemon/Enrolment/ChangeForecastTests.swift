// SPDX-License-Identifier: Apache-2.0
import CommandProtocol
import Domain
import LoginProtocol
import TestSupport
import Testing

extension DaemonTests {
    @Suite("what a change of fingers will do") struct ChangeForecastTests {
        private static let name = Person.daemon.account
        private let fixture: DaemonFixture

        /// An account with a finger and a secret.
        init() throws {
            fixture = try DaemonFixture([.text])
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            #expect(try fixture.client(.daemon).keep([1], "mail").done != nil)
        }

        private var changes: [Request] {
            [
                .enroll(account: Self.name, finger: .leftIndex, readerID: nil),
                .delete(account: Self.name, finger: .rightIndex),
                .delete(account: Self.name, finger: nil),
            ]
        }

        /// What is said before the password, which is then asked for.
        private func foretold(_ request: Request, _ client: TestClient) throws -> [Answer] {
            try client.send(request)
            let before = client.heard.count
            try #require(try client.isAskedPassword(of: Self.name))
            return Array(client.heard[before...].dropLast())
        }

        @Test("is said on the connection of the request, before the password is asked for")
        func first() throws {
            for request in changes {
                let client = try fixture.client(.daemon)
                let effects = try foretold(request, client).compactMap {
                    $0.own(ChangeEffectAnswer.self)
                }
                #expect(effects == [ChangeEffectAnswer("secret", count: 1)])
                try client.send(.cancel)
                _ = try client.last()
            }
            let enable = try foretold(.enable(account: Self.name), fixture.client(.daemon))
            #expect(enable.count == 2 && enable.last == .of(ChangeForecastAnswer()))
        }

        @Test("names the finger that will be enrolled if the request does not")
        func chosen() throws {
            let request = Request.enroll(account: Self.name, finger: nil, readerID: nil)
            let client = try fixture.client(.daemon)
            let end = try foretold(request, client).last
            #expect(end == .of(ChangeForecastAnswer(finger: .leftIndex)))
        }

        @Test("is what happens: if anything else has come to depend on the fingers, nothing does")
        func refused() throws {
            for (index, request) in changes.enumerated() {
                let client = try fixture.client(.daemon)
                _ = try foretold(request, client)
                #expect(try fixture.client(.daemon).keep([2], "more-\(index)").done != nil)
                #expect(try client.ask(.password(Bytes("right".utf8))).reason == .changedMeanwhile)
                #expect(try fixture.status(of: .daemon).prints == 1)
            }
            #expect(try fixture.login(.daemon, with: "one").assertion != nil)
            #expect(try fixture.ask(.delete(account: Self.name, finger: nil)).done?.prints == 0)
        }

        @Test("is what happens: other fingers than were shown are not changed or approved")
        func otherFingers() throws {
            let requests = changes + [.enable(account: Self.name)]
            let fingers: [Finger] = [.leftLittle, .leftMiddle, .leftThumb, .leftRing]
            for (request, finger) in zip(requests, fingers) {
                let client = try fixture.client(.daemon)
                _ = try foretold(request, client)
                #expect(try fixture.enrol(.daemon, finger, as: "two").done != nil)
                #expect(try client.ask(.password(Bytes("right".utf8))).reason == .changedMeanwhile)
            }
            #expect(try fixture.status(of: .daemon).prints == 5)
        }

        @Test("is what happens: an account that had no finger then is left as it is if it has one")
        func firstFinger() throws {
            for request: Request in [
                .enroll(account: Person.bin.account, finger: .leftIndex, readerID: nil),
                .enable(account: Person.bin.account),
            ] {
                let client = try fixture.client(.bin)
                try client.send(request)
                try #require(try client.isAskedPassword(of: Person.bin.account))
                #expect(try fixture.enrol(.bin, .rightIndex, as: "three").done != nil)
                #expect(try client.ask(.password(Bytes("right".utf8))).reason == .changedMeanwhile)
                #expect(try fixture.status(of: .bin).prints == 1)
                let empty = Request.delete(account: Person.bin.account, finger: nil)
                #expect(try fixture.ask(empty).done?.prints == 0)
            }
        }

        @Test("is no reason to refuse where something of it has ended meanwhile")
        func less() throws {
            let client = try fixture.client(.daemon)
            _ = try foretold(changes[1], client)
            let remove = Request.secretDelete(account: Self.name, name: Bytes("mail".utf8))
            #expect(try fixture.ask(remove).done != nil)
            #expect(try client.ask(.password(Bytes("right".utf8))).done?.prints == 0)
        }

        @Test("has the keyring where no password takes the place of the stored one")
        func keyring() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            let foretold = { (request: Request, peer: Person) in
                let client = try fixture.client(peer)
                try client.send(request)
                var said: [Answer] = []
                while let answer = try client.next(), answer.isForetold { said.append(answer) }
                _ = try? client.send(.cancel)
                return said
            }
            let end = Answer.of(ChangeForecastAnswer())
            #expect(try foretold(.disable(account: Self.name), .daemon) == [end])
            #expect(try fixture.give().done?.keyring == .on)
            let keyring = Answer.of(ChangeEffectAnswer("keyring"))
            #expect(try foretold(.disable(account: Self.name), .daemon) == [keyring, end])
            #expect(try foretold(changes[2], .daemon) == [keyring, end])
            #expect(try fixture.keyring() == .on)
            #expect(try foretold(changes[2], .root) == [keyring, end])
        }

        @Test("is what happens: a keyring that has been stored meanwhile is not dropped unsaid")
        func keyringMeanwhile() throws {
            let fixture = try DaemonFixture.withShadow()
            try fixture.enrol(.daemon, .rightIndex, as: "one")
            let client = try fixture.client(.daemon)
            try client.send(.disable(account: Self.name))
            try #require(try client.isAskedPassword(of: Self.name))
            #expect(try fixture.give().done?.keyring == .on)
            #expect(try client.ask(.password(Bytes("right".utf8))).reason == .changedMeanwhile)
            #expect(try fixture.keyring() == .on)
            #expect(try fixture.status(of: .daemon).state == .valid)
        }

        @Test("is said to root as well, who gives no password")
        func root() throws {
            let client = try fixture.client()
            #expect(try client.ask(changes[2]).done?.prints == 0)
            #expect(client.heard.first == .of(ChangeEffectAnswer("secret", count: 1)))
        }
    }
}
